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
    case TBEM_F16:
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

namespace {

/// The type of one node, those of all earlier ones being known.
class NodeTyper {
public:
  NodeTyper(const LoopNest& nest, const std::vector<NodeType>& types) : nest(nest), types(types), floating(loopFloat(nest)) {}

  tl::expected<NodeType, std::string> typeOf(std::uint32_t node) const {
    const ElemNode& n = nest.nodes[node];
    switch (n.op) {
      case ElemOp::Input:
        return NodeType{valueType(nest.inputs[n.input].dtype)};
      case ElemOp::Constant:
        return NodeType{ValueType::F64, true, n.value.isInt()};
      case ElemOp::Scalar:
        return NodeType{ValueType::F64, true};
      case ElemOp::Random:
        return NodeType{floating};
      case ElemOp::Index:
        return NodeType{ValueType::I64};
      case ElemOp::Neg:
      case ElemOp::Abs:
      case ElemOp::Floor:
        return signedOf(types[n.a]);
      case ElemOp::Equal:
      case ElemOp::Less:
      case ElemOp::LessEqual:
      case ElemOp::And:
      case ElemOp::Or:
        return NodeType{ValueType::Bool, types[n.a].uniform && types[n.b].uniform};
      case ElemOp::Not:
        return NodeType{ValueType::Bool, types[n.a].uniform};
      case ElemOp::Div:
      case ElemOp::Pow:
        return quotientOf(types[n.a], types[n.b]);
      case ElemOp::Add:
      case ElemOp::Sub:
      case ElemOp::Mul:
      case ElemOp::Minimum:
      case ElemOp::Maximum:
        return sumOf(types[n.a], types[n.b]);
      case ElemOp::Select:
        return selected(types[n.a], types[n.b], types[n.c]);
      case ElemOp::Cast:
        return castOf(node);
      default:  // Exp Log Sqrt Rsqrt Tanh Erf Sin Cos
        return floated(types[n.a]);
    }
  }

private:
  NodeType signedOf(const NodeType& a) const {
    if (a.uniform) return {ValueType::F64, true, a.integral};
    return a.type == ValueType::Bool ? NodeType{ValueType::I64} : a;
  }
  NodeType quotientOf(const NodeType& a, const NodeType& b) const {
    NodeType type = meet(a, b, floating);
    type.integral = false;
    if (!type.uniform && !isFloat(type.type)) type.type = floating;
    if (type.uniform) type.type = ValueType::F64;
    return type;
  }
  NodeType sumOf(const NodeType& a, const NodeType& b) const {
    NodeType type = meet(a, b, floating);
    if (type.type == ValueType::Bool) type.type = type.uniform ? ValueType::F64 : ValueType::I64;
    return type;
  }
  /// A condition that varies makes the result vary: two uniform arms meet in the loop's float.
  NodeType selected(const NodeType& condition, const NodeType& b, const NodeType& c) const {
    NodeType type = meet(b, c, floating);
    if (type.uniform && !condition.uniform && type.type != ValueType::Bool) type.type = floating;
    type.uniform = type.uniform && condition.uniform;
    type.integral = type.integral && type.uniform;
    return type;
  }
  /// Functions of one number: integers become floats.
  NodeType floated(const NodeType& a) const {
    if (a.uniform) return {ValueType::F64, true};
    return {isFloat(a.type) ? a.type : floating};
  }
  tl::expected<NodeType, std::string> castOf(std::uint32_t node) const {
    if (nest.nodes[node].dtype >= 0) return NodeType{valueType(nest.nodes[node].dtype)};
    const auto root = std::find_if(nest.outputs.begin(), nest.outputs.end(), [&](const LoopOutput& o) { return o.node == node; });
    if (root == nest.outputs.end())
      return tl::make_unexpected(std::string("a cast inside a fused expression does not say its element type"));
    return NodeType{valueType(root->dtype)};
  }

  const LoopNest& nest;
  const std::vector<NodeType>& types;
  ValueType floating;
};

}  // namespace

tl::expected<std::vector<NodeType>, std::string> inferTypes(const LoopNest& nest) {
  std::vector<NodeType> types(nest.nodes.size());
  const NodeTyper typer(nest, types);
  for (std::uint32_t i = 0; i < nest.nodes.size(); ++i) {
    bool usesLater = false;
    eachOperand(nest.nodes[i], [&](std::uint32_t operand) { usesLater = usesLater || operand >= i; });
    if (usesLater) return tl::make_unexpected(fmt::format("node {} of a loop uses a later node", i));
    const auto type = typer.typeOf(i);
    if (!type) return tl::make_unexpected(type.error());
    types[i] = *type;
  }
  for (const auto& o : nest.outputs) types[o.node].used = true;
  for (std::size_t i = nest.nodes.size(); i-- > 0;) {
    if (!types[i].used) continue;
    eachOperand(nest.nodes[i], [&](std::uint32_t operand) { types[operand].used = true; });
  }
  return types;
}

}  // namespace tbem::jit
