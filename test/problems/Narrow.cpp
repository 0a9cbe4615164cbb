#include "test/problems/Narrow.h"

#include "runtime/core/Layout.h"

namespace tbem::test {

namespace {

/// From which operand on a primitive's operands are f32 beside narrow ones; as many as it has: none are.
std::size_t firstWide(tbem_primitive primitive) {
  switch (primitive) {
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return 2;
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_channel_moments:
      return 1;
    case TBEM_PRIMITIVE_attention:
      return 4;
    default:
      return 100;
  }
}

bool hasBias(tbem_primitive primitive) { return primitive == TBEM_PRIMITIVE_conv2d || primitive == TBEM_PRIMITIVE_dense; }

}  // namespace

bool staysF32(tbem_primitive primitive, std::size_t operand) {
  if (primitive == TBEM_PRIMITIVE_attention_gradient) return operand == 5;
  return operand >= firstWide(primitive) || (hasBias(primitive) && operand == 2);
}

Problem roundedTo(tbem_dtype dtype, Problem problem) {
  for (std::size_t k = 0; k < problem.inputs.size(); ++k) {
    if (!problem.inputs[k] || problem.inputs[k]->integer || staysF32(problem.primitive, k)) continue;
    std::vector<double>& values = problem.inputs[k]->values;
    std::vector<std::uint16_t> bits(values.size());
    runtime::fromDoubles(dtype, values, bits.data());
    runtime::toDoubles(dtype, bits.data(), values);
  }
  return problem;
}

}  // namespace tbem::test
