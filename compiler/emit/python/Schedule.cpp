#include "compiler/emit/python/Schedule.h"

#include "compiler/emit/python/Code.h"
#include "compiler/emit/python/Wrap.h"

#include <fmt/format.h>

namespace tbem::emit {

using graph::ElemNode;
using graph::ElemOp;

namespace {

class RateText {
public:
  RateText(const graph::Row& row, const graph::Op& op) : row(row), op(op) {}

  tl::expected<std::string, Refusal> whole() {
    const std::string text = block(op.elementwise.roots.front(), 4);
    if (hasUnknown)
      return tl::unexpected(Refusal{op.range, "the rate's expression", "It has an operation that numbers of Python have not."});
    return text;
  }

private:
  /// Statements that return the value: a choice is an `if`.
  std::string block(std::uint32_t position, std::size_t indent) {
    const ElemNode& node = op.elementwise.nodes[position];
    if (node.op == ElemOp::Select) {
      const ElemNode& condition = op.elementwise.nodes[node.a];
      const bool isNever = condition.op == ElemOp::LessEqual && isStep(condition.a) && isZero(condition.b);
      if (isNever) return block(node.c, indent);  // a rise over no steps: they count from 1
      std::string text = wrapped(indent, fmt::format("if {}:", of(node.a, Binding::Any)));
      text += block(node.b, indent + 4);
      return text + block(node.c, indent);
    }
    angles.clear();
    const std::string value = of(position, Binding::Any);
    std::string text;
    for (std::size_t k = 0; k < angles.size(); ++k) text += wrapped(indent, fmt::format("{} = {}", angleName(k), angles[k]));
    return text + wrapped(indent, "return " + value);
  }
  static std::string angleName(std::size_t k) { return k == 0 ? "angle" : fmt::format("angle{}", k + 1); }

  std::string of(std::uint32_t position, Binding least) {
    const auto [text, binding] = plain(op.elementwise.nodes[position]);
    return binding < least ? "(" + text + ")" : text;
  }

  bool isStep(std::uint32_t position) const {
    const ElemNode& node = op.elementwise.nodes[position];
    return node.op == ElemOp::Scalar && node.scalar == row.values.step;
  }
  bool isZero(std::uint32_t position) const {
    const ElemNode& node = op.elementwise.nodes[position];
    if (node.op == ElemOp::Constant) return node.value.toDouble() == 0;
    return node.op == ElemOp::Scalar && !isStep(position) && row.values[node.scalar].toDouble() == 0;
  }
  std::pair<std::string, Binding> sum(const ElemNode& node, const char* sign) {
    if (isZero(node.b)) return plain(op.elementwise.nodes[node.a]);
    if (isZero(node.a) && node.op == ElemOp::Add) return plain(op.elementwise.nodes[node.b]);
    return infix(node, sign, Binding::Sum);
  }
  /// The argument is a statement of its own, so that lines stay short.
  std::pair<std::string, Binding> ofAngle(const char* callee, const ElemNode& node) {
    angles.push_back(of(node.a, Binding::Any));
    return {fmt::format("{}({})", callee, angleName(angles.size() - 1)), Binding::Atom};
  }
  std::pair<std::string, Binding> infix(const ElemNode& node, const char* sign, Binding binding) {
    const auto [left, right] = sidesOf(binding);
    return {fmt::format("{} {} {}", of(node.a, left), sign, of(node.b, right)), binding};
  }
  std::pair<std::string, Binding> call(const char* callee, const ElemNode& node) {
    const std::string second = graph::operandCount(node.op) > 1 ? ", " + of(node.b, Binding::Any) : "";
    return {fmt::format("{}({}{})", callee, of(node.a, Binding::Any), second), Binding::Atom};
  }

  std::pair<std::string, Binding> plain(const ElemNode& node) {
    switch (node.op) {
      case ElemOp::Constant:
        return number(node.value);
      case ElemOp::Scalar:
        if (node.scalar == row.values.step) return {"step", Binding::Atom};
        return number(row.values[node.scalar]);
      case ElemOp::Add:
        return sum(node, "+");
      case ElemOp::Sub:
        return sum(node, "-");
      case ElemOp::Mul:
        return infix(node, "*", Binding::Product);
      case ElemOp::Div:
        return infix(node, "/", Binding::Product);
      case ElemOp::Less:
        return infix(node, "<", Binding::Compare);
      case ElemOp::LessEqual:
        return infix(node, "<=", Binding::Compare);
      case ElemOp::Equal:
        return infix(node, "==", Binding::Compare);
      case ElemOp::And:
        return infix(node, "and", Binding::And);
      case ElemOp::Or:
        return infix(node, "or", Binding::Or);
      case ElemOp::Pow:
        return {fmt::format("{} ** {}", of(node.a, Binding::Atom), of(node.b, Binding::Sign)), Binding::Power};
      case ElemOp::Neg:
        return {"-" + of(node.a, Binding::Sign), Binding::Sign};
      case ElemOp::Minimum:
        return call("min", node);
      case ElemOp::Maximum:
        return call("max", node);
      case ElemOp::Abs:
        return call("abs", node);
      case ElemOp::Exp:
        return call("math.exp", node);
      case ElemOp::Log:
        return call("math.log", node);
      case ElemOp::Sqrt:
        return call("math.sqrt", node);
      case ElemOp::Tanh:
        return call("math.tanh", node);
      case ElemOp::Sin:
        return ofAngle("math.sin", node);
      case ElemOp::Cos:
        return ofAngle("math.cos", node);
      case ElemOp::Floor:
        return call("math.floor", node);
      case ElemOp::Select: {
        const std::size_t before = angles.size();
        const std::string text =
            fmt::format("{} if {} else {}", of(node.b, Binding::Or), of(node.a, Binding::Or), of(node.c, Binding::Select));
        hasUnknown = hasUnknown || angles.size() != before;  // a statement before the choice would be computed for both
        return {text, Binding::Select};
      }
      default:
        hasUnknown = true;
        return {"", Binding::Atom};
    }
  }

  static std::pair<std::string, Binding> number(const Rational& value) {
    const std::string text = value.isInt() ? value.str() : pythonReal(value);
    return {text, text.starts_with('-') ? Binding::Sign : Binding::Atom};
  }

  const graph::Row& row;
  const graph::Op& op;
  std::vector<std::string> angles;  ///< of the statement at hand
  bool hasUnknown = false;          ///< what has no form
};

}  // namespace

tl::expected<std::string, Refusal> rateText(const graph::Row& row, graph::TensorId rate) {
  const graph::OpId producer = row.graph()[rate].producer;
  const graph::Op& op = row.graph()[producer];
  if (op.kind != graph::OpKind::Elementwise || !op.inputs.empty())
    return tl::unexpected(
        Refusal{op.range, "`" + op.declaration + "`", "A rate is written where it is an expression of `step` and numbers."});
  return RateText(row, op).whole();
}

std::string rateFunction(const std::string& rate) {
  return "\n\ndef learning_rate(done: int) -> float:\n" +
         (rate.find("step") != std::string::npos ? wrapped(4, "step = done + 1") : "") + rate;
}

}  // namespace tbem::emit
