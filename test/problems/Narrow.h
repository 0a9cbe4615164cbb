// Problems in bf16 and f16: which operands stay f32, and numbers that such a type holds.
#pragma once

#include "test/problems/Problem.h"

namespace tbem::test {

/// Whether an operand (outputs are counted behind inputs) is f32 where the others are narrow: sums, statistics, biases and
/// gradients of weights.
bool staysF32(tbem_primitive primitive, std::size_t operand);

/// The problem with the values of its operands of this type rounded, so that all backends are given the same numbers.
Problem roundedTo(tbem_dtype dtype, Problem problem);

}  // namespace tbem::test
