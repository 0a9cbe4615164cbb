#include "compiler/emit/python/ElementFacts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tbem::emit {

using graph::ElemNode;
using graph::ElemOp;

namespace {

std::optional<double> computed(ElemOp kind, const std::array<double, 3>& x) {
  switch (kind) {
    case ElemOp::Add:
      return x[0] + x[1];
    case ElemOp::Sub:
      return x[0] - x[1];
    case ElemOp::Mul:
      return x[0] * x[1];
    case ElemOp::Div:
      return x[0] / x[1];
    case ElemOp::Neg:
      return -x[0];
    case ElemOp::Minimum:
      return std::min(x[0], x[1]);
    case ElemOp::Maximum:
      return std::max(x[0], x[1]);
    case ElemOp::Abs:
      return std::abs(x[0]);
    case ElemOp::Exp:
      return std::exp(x[0]);
    case ElemOp::Log:
      return std::log(x[0]);
    case ElemOp::Sqrt:
      return std::sqrt(x[0]);
    case ElemOp::Rsqrt:
      return 1 / std::sqrt(x[0]);
    case ElemOp::Pow:
      return std::pow(x[0], x[1]);
    case ElemOp::Tanh:
      return std::tanh(x[0]);
    case ElemOp::Erf:
      return std::erf(x[0]);
    case ElemOp::Sin:
      return std::sin(x[0]);
    case ElemOp::Cos:
      return std::cos(x[0]);
    case ElemOp::Floor:
      return std::floor(x[0]);
    case ElemOp::Equal:
      return x[0] == x[1] ? 1 : 0;
    case ElemOp::Less:
      return x[0] < x[1] ? 1 : 0;
    case ElemOp::LessEqual:
      return x[0] <= x[1] ? 1 : 0;
    case ElemOp::And:
      return x[0] != 0 && x[1] != 0 ? 1 : 0;
    case ElemOp::Or:
      return x[0] != 0 || x[1] != 0 ? 1 : 0;
    case ElemOp::Not:
      return x[0] == 0 ? 1 : 0;
    case ElemOp::Select:
      return x[0] != 0 ? x[1] : x[2];
    case ElemOp::Cast:
      return x[0];
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<double> numberOf(const graph::Row& row, const graph::Op& op, std::uint32_t position) {
  const ElemNode& node = op.elementwise.nodes[position];
  if (node.op == ElemOp::Constant) return node.value.toDouble();
  if (node.op == ElemOp::Scalar) return row.values[node.scalar].toDouble();
  const int count = graph::operandCount(node.op);
  if (count == 0) return std::nullopt;
  std::array<double, 3> given{};
  const std::array<std::uint32_t, 3> operands{node.a, node.b, node.c};
  for (int k = 0; k < count; ++k) {
    const std::optional<double> value = numberOf(row, op, operands[static_cast<std::size_t>(k)]);
    if (!value) return std::nullopt;
    given[static_cast<std::size_t>(k)] = *value;
  }
  return computed(node.op, given);
}

bool spansResult(const graph::Row& row, const graph::Op& op) {
  const std::vector<std::int64_t> shape = row.shape(op.outputs.front());
  std::vector<bool> reached(shape.size(), false);
  for (const ElemNode& node : op.elementwise.nodes) {
    if (node.op == ElemOp::Random) return true;
    if (node.op == ElemOp::Index) reached[node.input] = true;
    if (node.op != ElemOp::Input) continue;
    const std::vector<std::int64_t> given = row.shape(op.inputs[node.input]);
    const std::vector<std::int32_t>& axes = op.elementwise.operands[node.input].axes;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (axes[k] >= 0 && given[k] == shape[static_cast<std::size_t>(axes[k])]) reached[static_cast<std::size_t>(axes[k])] = true;
    }
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!reached[axis] && shape[axis] != 1) return false;
  }
  return true;
}

bool changesType(const graph::Row& row, const graph::Op& op) {
  const tbem_dtype type = row.graph()[op.outputs.front()].dtype;
  const bool isFloating = tbem_is_floating(type) != 0;
  if (type == TBEM_BOOL) return false;
  bool hasFloating = false, makesFractions = false;
  for (const ElemNode& node : op.elementwise.nodes) {
    if (node.op == ElemOp::Input) hasFloating = hasFloating || tbem_is_floating(row.graph()[op.inputs[node.input]].dtype) != 0;
    const bool isExact = node.op <= ElemOp::Index || node.op == ElemOp::Add || node.op == ElemOp::Sub || node.op == ElemOp::Mul;
    makesFractions = makesFractions || !isExact || node.op == ElemOp::Random || node.op == ElemOp::Scalar;
  }
  return isFloating ? !hasFloating : hasFloating || makesFractions;
}

namespace {
NumberKind kindOf(tbem_dtype type) {
  return type == TBEM_BOOL ? NumberKind::Bool : tbem_is_floating(type) != 0 ? NumberKind::Real : NumberKind::Whole;
}
}  // namespace

NumberKind kindOf(const graph::Row& row, const graph::Op& op, std::uint32_t position) {
  const ElemNode& node = op.elementwise.nodes[position];
  const tbem_dtype result = row.graph()[op.outputs.front()].dtype;
  switch (node.op) {
    case ElemOp::Input:
      return kindOf(row.graph()[op.inputs[node.input]].dtype);
    case ElemOp::Cast:
      return kindOf(node.dtype >= 0 ? static_cast<tbem_dtype>(node.dtype) : result);
    case ElemOp::Constant:
      return node.value.isInt() && tbem_is_floating(result) == 0 ? NumberKind::Literal : NumberKind::Real;
    case ElemOp::Index:
      return NumberKind::Whole;
    case ElemOp::Add:
    case ElemOp::Sub:
    case ElemOp::Mul:
    case ElemOp::Minimum:
    case ElemOp::Maximum:
      return std::max(kindOf(row, op, node.a), kindOf(row, op, node.b));
    case ElemOp::Select:
      return std::max(kindOf(row, op, node.b), kindOf(row, op, node.c));
    case ElemOp::Neg:
    case ElemOp::Abs:
      return kindOf(row, op, node.a);
    case ElemOp::Equal:
    case ElemOp::Less:
    case ElemOp::LessEqual:
    case ElemOp::And:
    case ElemOp::Or:
    case ElemOp::Not:
      return NumberKind::Bool;
    default:
      return NumberKind::Real;
  }
}

}  // namespace tbem::emit
