#include "compiler/certify/Lowering.h"

#include <cmath>

namespace tbem::certify {

namespace {

using graph::ElemNode;
using graph::ElemOp;

/// A number of the program, which the network's arithmetic rounds.
Interval numberOf(const Rational& value, const Arithmetic& arithmetic) {
  const double nearest = value.toDouble();
  const Interval exact = value.exactDouble() ? Interval::at(nearest) : outward(nearest, nearest);
  return arithmetic.unit == kUnit ? exact : hull(exact, Interval::at(static_cast<float>(nearest)));
}

class Expression {
public:
  Expression(StepBuilder& to, const Operator& op) : to(to), op(op), dims(op.dims(op.op.outputs.front())) {}

  std::vector<ValueId> run() {
    for (const ElemNode& node : op.op.elementwise.nodes) values.push_back(lowered(node));
    std::vector<ValueId> results;
    for (const std::uint32_t root : op.op.elementwise.roots) results.push_back(values[root]);
    return results;
  }

private:
  ValueId lowered(const ElemNode& node) {
    switch (node.op) {
      case ElemOp::Input:
        return read(node.input);
      case ElemOp::Constant:
        return to.constant(dims, numberOf(node.value, to.steps.arithmetic));
      case ElemOp::Scalar:
        return to.constant(dims, numberOf(op.row.values[node.scalar], to.steps.arithmetic));
      case ElemOp::Index: {
        std::vector<double> at(Shape::of(dims).count());
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<double>(coordinates(dims, i)[node.input]);
        return to.constant(dims, at);
      }
      case ElemOp::Random:
        return to.unsupported(dims, op.op.declaration);
      case ElemOp::Cast:
        return cast(node);
      case ElemOp::Div:
        return two(StepKind::Multiply, values[node.a], to.add(StepKind::Reciprocal, {values[node.b]}, dims));
      default:
        return computed(node);
    }
  }

  ValueId two(StepKind kind, ValueId a, ValueId b) { return to.add(kind, {a, b}, dims); }

  ValueId computed(const ElemNode& node) {
    const ValueId a = values[node.a];
    switch (node.op) {
      case ElemOp::Add:
        return two(StepKind::Add, a, values[node.b]);
      case ElemOp::Sub:
        return two(StepKind::Subtract, a, values[node.b]);
      case ElemOp::Mul:
        return two(StepKind::Multiply, a, values[node.b]);
      case ElemOp::Minimum:
        return two(StepKind::Minimum, a, values[node.b]);
      case ElemOp::Maximum:
        return two(StepKind::Maximum, a, values[node.b]);
      case ElemOp::Less:
        return two(StepKind::Less, a, values[node.b]);
      case ElemOp::LessEqual:
        return two(StepKind::LessEqual, a, values[node.b]);
      case ElemOp::Equal:
        return two(StepKind::Equal, a, values[node.b]);
      case ElemOp::And:
        return two(StepKind::And, a, values[node.b]);
      case ElemOp::Or:
        return two(StepKind::Or, a, values[node.b]);
      case ElemOp::Not:
        return to.add(StepKind::Not, {a}, dims);
      case ElemOp::Neg:
        return to.add(StepKind::Negate, {a}, dims);
      case ElemOp::Select:
        return to.add(StepKind::Select, {a, values[node.b], values[node.c]}, dims);
      default:
        break;
    }
    Step step;
    step.kind = StepKind::Function;
    step.function = node.op;
    step.inputs = {a};
    if (graph::operandCount(node.op) == 2) step.inputs.push_back(values[node.b]);
    step.shape = Shape::of(dims);
    return to.add(std::move(step));
  }

  /// Between truth values and numbers of the network's type nothing changes; whole numbers are cut off.
  ValueId cast(const ElemNode& node) {
    const auto type = static_cast<tbem_dtype>(node.dtype < 0 ? op.row.graph()[op.op.outputs.front()].dtype : node.dtype);
    const bool plain = type == TBEM_BOOL || type == (to.steps.arithmetic.unit == kUnit ? TBEM_F64 : TBEM_F32);
    return plain ? values[node.a] : to.unsupported(dims, op.op.declaration, {values[node.a]});
  }

  ValueId read(std::uint32_t input) {
    const std::vector<std::int32_t>& axes = op.op.elementwise.operands[input].axes;
    const ValueId from = op.inputs[input];
    const std::vector<std::int64_t> own = to.shape(from).dims;
    return to.gather({from}, dims, [&](std::size_t i) {
      const std::vector<std::int64_t> at = coordinates(dims, i);
      std::vector<std::int64_t> there(own.size(), 0);
      for (std::size_t k = 0; k < own.size(); ++k)
        if (axes[k] >= 0 && own[k] != 1) there[k] = at[static_cast<std::size_t>(axes[k])];
      return StepBuilder::Source(0, rowMajor(own, there));
    });
  }

  StepBuilder& to;
  const Operator& op;
  std::vector<std::int64_t> dims;  ///< of the results
  std::vector<ValueId> values;     ///< by node
};

}  // namespace

std::vector<ValueId> lowerExpression(StepBuilder& to, const Operator& op) { return Expression(to, op).run(); }

}  // namespace tbem::certify
