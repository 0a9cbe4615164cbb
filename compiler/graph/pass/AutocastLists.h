// Which operators PyTorch's autocast lists, beside products and convolutions, which it computes in the narrow type.
//
// PyTorch 2.15's lists in bfloat16, as it answers for tensors of CUDA and of the processor, operator by operator
// (docs/measurements/2026-11-22-pytorch-autocast.json).
#pragma once

#include <cstdint>
#include <string_view>

namespace tbem::graph {

enum class AutocastList : std::uint8_t {
  None,     ///< goes by what it is made of
  Follows,  ///< computes in the type of what it reads, whatever is inside
  Widened   ///< its operands are cast to f32, and so are its results
};

/// `name`: of the declaration of an operator or a block.
AutocastList autocastList(std::string_view name, bool onCuda);

}  // namespace tbem::graph
