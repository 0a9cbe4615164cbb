// The convolutions of a lowered step, as cuDNN is asked for them.
#pragma once

#include "compiler/lower/program/Program.h"
#include "runtime/cudnn/Convolution.h"

#include <optional>
#include <vector>

namespace tbem::driver {

/// The convolution that a call computes; nothing for any other call, and for element types that cuDNN's convolutions lack (f64).
std::optional<cudnn::Convolution> convolutionOf(const estimate::Program& program, const estimate::NativeCall& call,
                                                cudnn::Order order);

/// A call of the step that is a convolution.
struct ConvolutionCall {
  std::uint32_t call = 0;  ///< into `program.calls`
  std::uint32_t step = 0;  ///< into `program.steps`
  cudnn::Convolution problem;
};
/// In the order of the schedule. `left`: how many convolutions are of element types that cannot be asked for.
std::vector<ConvolutionCall> convolutionsOf(const estimate::Program& program, cudnn::Order order, std::size_t& left);

}  // namespace tbem::driver
