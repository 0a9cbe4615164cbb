// What the parts of the cuda backend share: prepared operators, failures, families of primitives.
//
// f32, bf16 and f16 with i64 numbers of elements; sums are in f32 and more (Primitives.cpp says which operands of narrow types
// are read as they are). Tensors are row-major, images also with their channels last (Images.h). Convolutions are cuDNN's and
// matrix products cuBLASLt's (libraries/); the rest are kernels of our own (kernels/*.cu), which ops/*.cpp start. A query needs
// no device.
#pragma once

#include "runtime/core/Family.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tbem::cuda {

/// Keeps a message for last_error and returns the status.
tbem_status fail(tbem_status status, const std::string& message);
/// TBEM_UNSUPPORTED, with the primitive's name before the reason.
tbem_status unsupported(const tbem_op_desc& op, const std::string& why);
/// The message of the last failure on this thread.
const char* lastErrorText();

/// A prepared operator.
class Op : public runtime::OwnDescription {
public:
  using OwnDescription::OwnDescription;
  virtual ~Op() = default;

  /// Puts its work behind what the device was asked before (Device.h). `memory` and `work` are addresses of the device.
  virtual tbem_status run(void* const* memory, void* work, const double* scalars) = 0;
};

/// Created with the device open.
using Family = runtime::FamilyOf<Op>;

/// Makes every operand that is `any` row-major; TBEM_UNSUPPORTED where one that is given is not.
tbem_status plainLayouts(tbem_op_desc& op);

Family convFamily();       // libraries/Conv.cpp
Family productFamily();    // libraries/Product.cpp
Family attentionFamily();  // libraries/Attention.cpp
Family moveFamily();       // ops/Move.cpp: permute, pad, slice, concat, reorder
Family indexFamily();      // ops/Index.cpp: gather, gather_gradient, arg_max, constant
Family rowsFamily();       // ops/Rows.cpp: split_rows, move_rows
Family reduceFamily();     // ops/Reduce.cpp: reduce_sum, reduce_max and its gradient, sum_squares
Family channelFamily();    // ops/Channel.cpp: channel_moments, channel_gradient_sums
Family rowSumFamily();     // ops/RowSums.cpp: row_gradient_sums
Family poolFamily();       // ops/Pool.cpp
Family softmaxFamily();    // ops/Softmax.cpp: softmax, log_softmax, cross_entropy and their gradients

}  // namespace tbem::cuda
