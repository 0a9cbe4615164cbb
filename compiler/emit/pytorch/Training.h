// The training step of a task in PyTorch. Internal to compiler/emit/pytorch.
#pragma once

#include "compiler/emit/pytorch/PyTorch.h"

#include <string>
#include <vector>

namespace tbem::emit {

/// What a step of the row computes beside the network.
struct StepText {
  std::vector<std::string> inputs;  ///< names of the network's inputs
  std::string loss;                 ///< an expression of `output` and `target` (in parts: `target_part`); empty: no step
  bool wantsShares = false;         ///< the target lies between 0 and 1
  std::string optimizer;            ///< the optimiser's constructor; empty: weights stay
  std::string groups;               ///< the function that makes it, where it has parameter groups; empty: there are none
  bool isList = false;              ///< there are several optimisers, in a list
  std::string freeze;               ///< the function that freezes weights; empty: none is frozen
  std::string rate;                 ///< statements that return the learning rate of `step`; empty: the optimiser's own
  std::int64_t parts = 1;           ///< micro-batches of which the step adds up the gradients
  std::string mixed;                ///< the narrow type of autocast: "torch.bfloat16"; empty: none
  std::string clip;                 ///< a statement over the gradients; empty: none

  /// f16 ends at 65504, and begins late.
  bool scalesLoss() const { return mixed == "torch.float16" && !optimizer.empty(); }
};

tl::expected<StepText, Refusal> stepText(const graph::Row& row);

}  // namespace tbem::emit
