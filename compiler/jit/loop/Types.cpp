#include "compiler/jit/loop/Types.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::jit {
namespace {

using graph::ElemNode;
using graph::ElemOp;

bool isFloat(ValueType t) { return t == ValueType::F32 || t == ValueType::F64; }

/// The type in which two numbers meet.
NodeType meet(const NodeType& a, const NodeType& b, ValueType floating) {
  if (a.uniform && b.uniform) {
    if (a.type == ValueType::Bool && b.type == ValueType::Bool) return {ValueType::Bool, true};
    return {ValueType::F64, true, a.integral && b.integral};
  }
  if (a.uniform != b.uniform) {
    const NodeType &tensor = a.uniform ? b : a, &number = a.uniform ? a : b;
    if (isFloat(tensor.type) || number.type == ValueType::Bool) return {tensor.type};
    return {number.integral ? ValueType::I64 : floating};
  }
  return {std::max(a.type, b.type)};
}

}  // namespace

ValueType valueType(std::int32_t dtype) {
  switch (dtype) {
    case TBEM_F64:
      return ValueType::F64;
    case TBEM_F32:
    case TBEM_BF16:
      return ValueType::F32;
    case TBEM_BOOL:
      return ValueType::Bool;
    default:
      return ValueType::I64;
  }
}

ValueType loopFloat(const LoopNest& nest) {
  auto wide = [](const auto& x) { return x.dtype == TBEM_F64; };
  return std::any_of(nest.inputs.begin(), nest.inputs.end(), wide) || std::any_of(nest.outputs.begin(), nest.outputs.end(), wide)
             ? ValueType::F64
             : ValueType::F32;
}

tl::expected<std::vector<NodeType>, std::string> inferTypes(const LoopNest& nest) {
  const ValueType floating = loopFloat(nest);
  std::vector<NodeType> types(nest.nodes.size());
  for (std::size_t i = 0; i < nest.nodes.size(); ++i) {
    const ElemNode& n = nest.nodes[i];
    const int operands = graph::operandCount(n.op);
    if ((operands > 0 && n.a >= i) || (operands > 1 && n.b >= i) || (operands > 2 && n.c >= i)) {
      return tl::make_unexpected(fmt::format("node {} of a loop uses a later node", i));
    }
    const NodeType a = operands > 0 ? types[n.a] : NodeType{};
    // Functions of one number: integers become floats.
    const NodeType floated = a.uniform ? NodeType{ValueType::F64, true} : NodeType{isFloat(a.type) ? a.type : floating};
    switch (n.op) {
      case ElemOp::Input:
        types[i] = {valueType(nest.inputs[n.input].dtype)};
        break;
      case ElemOp::Constant:
        types[i] = {ValueType::F64, true, n.value.isInt()};
        break;
      case ElemOp::Scalar:
        types[i] = {ValueType::F64, true};
        break;
      case ElemOp::Random:
        types[i] = {floating};
        break;
      case ElemOp::Index:
        types[i] = {ValueType::I64};
        break;
      case ElemOp::Neg:
      case ElemOp::Abs:
      case ElemOp::Floor:
        types[i] = a.type == ValueType::Bool ? NodeType{ValueType::I64} : a;
        if (a.uniform) types[i] = {ValueType::F64, true, a.integral};
        break;
      case ElemOp::Equal:
      case ElemOp::Less:
      case ElemOp::LessEqual:
      case ElemOp::And:
      case ElemOp::Or:
        types[i] = {ValueType::Bool, a.uniform && types[n.b].uniform};
        break;
      case ElemOp::Not:
        types[i] = {ValueType::Bool, a.uniform};
        break;
      case ElemOp::Div:
      case ElemOp::Pow: {
        NodeType t = meet(a, types[n.b], floating);
        t.integral = false;
        if (!t.uniform && !isFloat(t.type)) t.type = floating;
        if (t.uniform) t.type = ValueType::F64;
        types[i] = t;
        break;
      }
      case ElemOp::Add:
      case ElemOp::Sub:
      case ElemOp::Mul:
      case ElemOp::Minimum:
      case ElemOp::Maximum: {
        NodeType t = meet(a, types[n.b], floating);
        if (t.type == ValueType::Bool) t.type = t.uniform ? ValueType::F64 : ValueType::I64;
        types[i] = t;
        break;
      }
      case ElemOp::Select: {
        NodeType t = meet(types[n.b], types[n.c], floating);
        // A condition that varies makes the result vary: two uniform arms meet in the loop's float.
        if (t.uniform && !a.uniform && t.type != ValueType::Bool) t.type = floating;
        t.uniform = t.uniform && a.uniform;
        t.integral = t.integral && t.uniform;
        types[i] = t;
        break;
      }
      case ElemOp::Cast: {
        if (n.dtype < 0) {
          const auto root =
              std::find_if(nest.outputs.begin(), nest.outputs.end(), [&](const LoopOutput& o) { return o.node == i; });
          if (root == nest.outputs.end())
            return tl::make_unexpected(std::string("a cast inside a fused expression does not say its element type"));
          types[i] = {valueType(root->dtype)};
        } else {
          types[i] = {valueType(n.dtype)};
        }
        break;
      }
      default:
        types[i] = floated;
        break;  // Exp Log Sqrt Rsqrt Tanh Erf Sin Cos
    }
  }
  for (const auto& o : nest.outputs) types[o.node].used = true;
  for (std::size_t i = nest.nodes.size(); i-- > 0;) {
    if (!types[i].used) continue;
    eachOperand(nest.nodes[i], [&](std::uint32_t operand) { types[operand].used = true; });
  }
  return types;
}

}  // namespace tbem::jit
