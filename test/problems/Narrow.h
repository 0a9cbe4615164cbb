// Problems in bf16: which operands stay f32, and numbers that bf16 holds.
#pragma once

#include "test/problems/Problem.h"

namespace tbem::test {

/// Whether an operand (outputs are counted behind inputs) is f32 where the others are bf16: sums, statistics, biases and
/// gradients of weights.
bool staysF32(tbem_primitive primitive, std::size_t operand);

/// The problem with the values of its bf16 operands rounded, so that all backends are given the same numbers.
Problem roundedToBfloat16(Problem problem);

}  // namespace tbem::test
