// Element types inside a fused expression. Storage types narrow to four computing types (bf16 is computed in f32); constants and
// run-time scalars are "uniform": computed once in f64 before the loop and rounded where they meet a tensor, as PyTorch does with
// Python numbers.
#pragma once

#include "compiler/jit/loop/Loop.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::jit {

enum class ValueType : std::uint8_t { Bool, I64, F32, F64 };

struct NodeType {
  ValueType type = ValueType::F32;
  bool uniform = false;   ///< the same for all elements: only constants, scalars and what is made of them
  bool integral = false;  ///< a uniform constant that is a whole number: it keeps an integer operand an integer
  bool used = false;      ///< an output depends on it
};

/// visit(operand) for each node that `node` reads.
template <class Visit>
void eachOperand(const graph::ElemNode& node, const Visit& visit) {
  const std::uint32_t operands[] = {node.a, node.b, node.c};
  for (int i = 0; i < graph::operandCount(node.op); ++i) visit(operands[i]);
}

/// The computing type of a storage type.
ValueType valueType(std::int32_t dtype);

/// One an element of nest.nodes. Rules: a tensor operand decides; f64 over f32 over integer over bool; integer with a whole
/// constant stays integer, with another uniform number becomes the loop's float (f64 if any operand is, else f32), as the result
/// of Div, Sqrt, Exp, .. of integers does. Comparisons and logic give bool.
tl::expected<std::vector<NodeType>, std::string> inferTypes(const LoopNest& nest);

/// f64 if any input or output is, else f32.
ValueType loopFloat(const LoopNest& nest);

}  // namespace tbem::jit
