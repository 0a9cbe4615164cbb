// Convolutions by oneDNN: what choosing layouts hands to preparing and running.
#pragma once

#include "runtime/backends/cpu/Dnnl.h"

namespace tbem::cpu {

/// The algorithms of tbem_op_desc::algorithm. Winograd needs memory for transformed images and weights and rounds more (errors
/// of about 1e-6 of the largest value, against 2e-7).
enum class ConvAlgorithm : std::int32_t { Direct, Winograd };

/// Which operand is the image, the weight, the bias (-1: none) and the result.
struct Roles {
  int image, weight, bias, result;
};
Roles rolesOf(const tbem_op_desc& op);

/// One way to fill what is `any`, tried.
struct Attempt {
  onednn::Descriptor descriptor;
  std::vector<tbem_operand> operands;
  int rank = -1;  ///< -1: the library has nothing, or a layout that we cannot say; else onednn::rank
};

/// The best of the ways to fill what is `any`, for the description's algorithm.
Attempt chooseLayouts(const tbem_op_desc& op);

}  // namespace tbem::cpu
