// Convolutions by oneDNN: what choosing layouts hands to preparing and running.
#pragma once

#include "runtime/backends/cpu/dnnl/Dnnl.h"

namespace tbem::cpu {

/// The algorithms of tbem_op_desc::algorithm. Winograd needs memory for transformed images and weights and rounds more (errors
/// of about 1e-6 of the result's norm, against 2e-7). Cropped (DnnlCrop.cpp) is direct without the taps that never meet the
/// image.
enum class ConvAlgorithm : std::int32_t { Direct, Winograd, Cropped };

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

/// The best of the ways to fill what is `any`, for the description's algorithm (Direct or Winograd).
Attempt chooseLayouts(const tbem_op_desc& op);
/// Fills what is `any` in a convolution or a gradient of it as the direct forward convolution would. False where the library has
/// no generated code for that one.
bool fillAsForward(tbem_op_desc& op);
/// The arguments of a convolution's execution.
std::vector<onednn::Argument> convolutionArguments(const tbem_op_desc& op, const onednn::Descriptor& descriptor);

// DnnlCrop.cpp
/// Whether every tap of the kernel meets the image at some place.
bool meetsEveryTap(const runtime::Conv2d& conv);
tbem_status queryCropped(tbem_op_desc& op, tbem_op_info& info);
tbem_status createCropped(const tbem_op_desc& op, std::unique_ptr<Op>& out);

// DnnlPad.cpp
/// Whether it is a direct weight gradient that the library has no generated code for because the kernel exceeds the image.
bool wantsPadding(const tbem_op_desc& op);
/// TBEM_UNSUPPORTED, and `op` as it was, where it has none for the padded image either.
tbem_status queryPadded(tbem_op_desc& op, tbem_op_info& info);
tbem_status createPadded(const tbem_op_desc& op, std::unique_ptr<Op>& out);

}  // namespace tbem::cpu
