// How the operands of a matrix product may lie: what both of its algorithms (DnnlProduct.cpp, PackedProduct.cpp) ask.
#pragma once

#include "runtime/backends/cpu/ops/Op.h"

#include <algorithm>

namespace tbem::cpu {

/// Which operand of a dense layer or of its gradients is the weight, or its gradient: [out, in].
inline int weightOf(const tbem_op_desc& op) { return op.primitive == TBEM_PRIMITIVE_dense_weight_gradient ? 2 : 1; }

/// Strides alone say where its elements are.
inline bool isStrided(const tbem_operand& operand) {
  return operand.layout.blocks == 0 && std::equal(operand.dims, operand.dims + operand.rank, operand.layout.padded);
}

/// The weight lies transposed: the outputs that an input goes to are neighbours.
inline bool liesTransposed(const tbem_operand& weight) {
  return isStrided(weight) && weight.dims[0] > 1 && weight.layout.strides[0] == 1 && weight.layout.strides[1] == weight.dims[0];
}

}  // namespace tbem::cpu
