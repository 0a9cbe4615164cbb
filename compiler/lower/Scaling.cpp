#include "compiler/lower/Scaling.h"

#include <cmath>
#include <utility>
#include <vector>

namespace tbem::estimate {

using graph::ElemNode;
using graph::ElemOp;

namespace {

bool isReal(std::int32_t dtype) { return dtype == TBEM_F32 || dtype == TBEM_BF16 || dtype == TBEM_F16; }

/// The nodes of an operator whose result has this rank.
struct Reader {
  const sema::Values& values;
  const std::vector<ElemNode>& nodes;
  std::size_t rank;

  /// What a node that reads no operand is in this row; only scalars of an optimiser move from step to step.
  std::optional<double> constantOf(std::uint32_t at) const {
    const ElemNode& node = nodes[at];
    if (node.op == ElemOp::Constant) return node.value.toDouble();
    if (node.op == ElemOp::Scalar) {
      if (values.errorOf(node.scalar) != sema::EvalError::None) return std::nullopt;
      return values[node.scalar].toDouble();
    }
    if (node.op != ElemOp::Rsqrt && node.op != ElemOp::Sqrt && node.op != ElemOp::Div) return std::nullopt;
    const auto x = constantOf(node.a), by = node.op == ElemOp::Div ? constantOf(node.b) : std::optional(1.0);
    if (!x || !by) return std::nullopt;
    return node.op == ElemOp::Div ? *x / *by : node.op == ElemOp::Sqrt ? std::sqrt(*x) : 1 / std::sqrt(*x);
  }

  std::optional<Scaling> scalingOf(std::uint32_t at) const {
    const ElemNode& node = nodes[at];
    switch (node.op) {
      case ElemOp::Input:
        return Scaling{};
      case ElemOp::Cast:  // without a type: to that of the result, which is looked at there
        return node.dtype == -1 || isReal(node.dtype) ? scalingOf(node.a) : std::nullopt;
      case ElemOp::Mul:
        if (const auto scaled = times(node.a, constantOf(node.b))) return scaled;
        return times(node.b, constantOf(node.a));
      case ElemOp::Div: {
        const auto by = constantOf(node.b);
        return by ? times(node.a, 1 / *by) : std::nullopt;
      }
      case ElemOp::Select:
        return masked(node);
      default:
        return std::nullopt;
    }
  }

private:
  std::optional<Scaling> times(std::uint32_t at, std::optional<double> factor) const {
    const auto scaling = factor ? scalingOf(at) : std::nullopt;
    return scaling ? joined(*scaling, {.factor = *factor}) : std::nullopt;
  }

  /// A number where the row is before the column.
  std::optional<Scaling> masked(const ElemNode& select) const {
    const ElemNode& condition = nodes[select.a];
    if (condition.op != ElemOp::Less) return std::nullopt;
    const ElemNode &row = nodes[condition.a], &column = nodes[condition.b];
    if (row.op != ElemOp::Index || column.op != ElemOp::Index || row.input != rank - 2 || column.input != rank - 1)
      return std::nullopt;
    const auto hidden = constantOf(select.b);
    const auto scaling = hidden ? scalingOf(select.c) : std::nullopt;
    return scaling ? joined(*scaling, {.causal = true, .hidden = *hidden}) : std::nullopt;
  }
};

}  // namespace

std::optional<Scaling> joined(const Scaling& first, const Scaling& then) {
  if (first.causal && (then.causal || (then.factor != 1 && first.hidden != 0))) return std::nullopt;
  const Scaling& mask = first.causal ? first : then;
  return Scaling{first.factor * then.factor, mask.causal, mask.hidden};
}

std::optional<Scaling> scalingOf(const graph::Graph& graph, const sema::Values& values, graph::OpId id) {
  if (id == graph::kNoOp || graph[id].kind != graph::OpKind::Elementwise) return std::nullopt;
  const graph::Op& op = graph[id];
  if (op.inputs.size() != 1 || op.outputs.size() != 1 || op.elementwise.roots.size() != 1) return std::nullopt;
  if (!isReal(graph[op.inputs[0]].dtype) || !isReal(graph[op.outputs[0]].dtype)) return std::nullopt;
  const std::size_t rank = graph[op.outputs[0]].shape.size();
  const std::vector<std::int32_t>& axes = op.elementwise.operands[0].axes;
  if (axes.size() != rank) return std::nullopt;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (axes[axis] != static_cast<std::int32_t>(axis)) return std::nullopt;
  }
  return Reader{values, op.elementwise.nodes, rank}.scalingOf(op.elementwise.roots[0]);
}

}  // namespace tbem::estimate
