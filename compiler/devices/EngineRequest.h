// What is asked of a GPU's convolutions.
#pragma once

#include <string>

namespace tbem::driver {

struct EngineRequest {
  std::string device;             ///< the GPU: "h200", or a record of the program; "": none
  std::string cudnn;              ///< the folder of the cuDNN to ask, or "none"; "": where one is found
  std::string layout = "nchw";    ///< of images: "nchw", "nhwc"
  std::string tf32 = "on";        ///< whether f32 convolutions may round their inputs: "on", "off"
  bool nondeterministic = false;  ///< engines whose sums change from run to run are taken too
};

}  // namespace tbem::driver
