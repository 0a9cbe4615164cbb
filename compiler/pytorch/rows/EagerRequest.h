// What is asked of eager PyTorch.
#pragma once

#include <string>
#include <vector>

namespace tbem::driver {

struct EagerRequest {
  std::string update;                  ///< of its optimiser: "foreach", "fused", "loop"; "": as torch.optim chooses
  std::string inPlace = "none";        ///< what writes over its operand: "none", "activations", "all" (sums, too)
  std::vector<std::string> allocConf;  ///< texts as in PYTORCH_ALLOC_CONF
  std::string torch;                   ///< the version whose rules hold; "": the newest
};

}  // namespace tbem::driver
