#include "compiler/emit/python/Elements.h"

#include "compiler/emit/python/ElementFacts.h"
#include "compiler/graph/ir/ElemNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace tbem::emit {

using graph::ElemNode;
using graph::ElemOp;

namespace {

struct Text {
  Marked text;
  Binding binding = Binding::Atom;
};

/// How an expression has to hold together that a pattern begins with, or names among others.
Binding leastIn(std::string_view pattern) { return pattern.starts_with("{0}") ? Binding::Atom : Binding::Any; }

/// The result's shape; the batch is left to the framework, where that takes it from an operand.
std::string broadcastShape(const graph::Row& row, const graph::Op& op, std::string_view kept) {
  const std::vector<std::int64_t> shape = row.shape(op.outputs.front());
  const auto reachesFirst = [](const graph::ElemOperand& read) {
    return std::find(read.axes.begin(), read.axes.end(), 0) != read.axes.end();
  };
  const std::vector<graph::ElemOperand>& operands = op.elementwise.operands;
  if (kept.empty() || shape.size() < 2 || std::none_of(operands.begin(), operands.end(), reachesFirst)) return pythonText(shape);
  std::string text = fmt::format("({}", kept);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) text += ", " + pythonText(shape[axis]);
  return text + ")";
}

/// An element-wise expression as text, from its root down.
class Expression {
public:
  Expression(const graph::Row& row, const graph::Op& op, const ElementWords& words, const OperandText& operand, Scribe& scribe)
      : row(row), op(op), words(words), operand(operand), scribe(scribe) {}

  /// The whole, in the result's shape and type.
  Text whole() {
    const std::uint32_t root = op.elementwise.roots.front();
    const std::string shape = pythonText(row.shape(op.outputs.front()));
    if (const std::optional<double> value = numberOf(row, op, root))
      return said(words.full, shape, scribe.hole("value", realText(*value)), words.type(resultType()));
    Text text = of(root);
    if (!spansResult(row, op)) text = said(words.broadcast, text.text, broadcastShape(row, op, words.kept));
    return changesType(row, op) ? cast(text, resultType()) : text;
  }

private:
  template <class... Parts>
  static Text said(std::string_view pattern, const Parts&... parts) {
    return {fmt::format(fmt::runtime(pattern), parts...), Binding::Atom};
  }
  Text cast(const Text& text, tbem_dtype type) const {
    return said(words.cast, text.binding < leastIn(words.cast) ? "(" + text.text + ")" : text.text, words.type(type));
  }

  NumberKind kind(std::uint32_t position) const { return kindOf(row, op, position); }

  Text of(std::uint32_t position) {
    const ElemNode& node = op.elementwise.nodes[position];
    const bool isCall = node.op >= ElemOp::Minimum && graph::operandCount(node.op) > 0;
    if (const std::optional<double> value =
            isCall ? numberOf(row, op, position) : std::nullopt)  // no tensor for torch's functions
      return {scribe.hole("value", realText(*value)), *value < 0 ? Binding::Sign : Binding::Atom};
    switch (node.op) {
      case ElemOp::Input:
        return input(node.input);
      case ElemOp::Constant:
        return number(node.value);
      case ElemOp::Scalar:
        return {scribe.hole("value", pythonReal(row.values[node.scalar])),
                row.values[node.scalar].toDouble() < 0 ? Binding::Sign : Binding::Atom};
      case ElemOp::Index:
        return coordinate(node.input, TBEM_I64);
      case ElemOp::Add:
        return infix(node, "+", Binding::Sum);
      case ElemOp::Sub:
        return infix(node, "-", Binding::Sum);
      case ElemOp::Mul:
        return infix(node, "*", Binding::Product);
      case ElemOp::Div:
        return infix(node, "/", Binding::Product);
      case ElemOp::Equal:
        if (isOfItself(node)) return {"~" + isNan(node), Binding::Sign};
        return infix(node, "==", Binding::Compare);
      case ElemOp::Less:
        return infix(node, "<", Binding::Compare);
      case ElemOp::LessEqual:
        return infix(node, "<=", Binding::Compare);
      case ElemOp::And:
        return infix(node, "&", Binding::BitAnd);
      case ElemOp::Or:
        return infix(node, "|", Binding::BitOr);
      case ElemOp::Neg:
        return {"-" + part(node.a, Binding::Atom), Binding::Sign};
      case ElemOp::Not:
        if (isOfItself(op.elementwise.nodes[node.a])) return {isNan(op.elementwise.nodes[node.a]), Binding::Atom};
        return {"~" + part(node.a, Binding::Atom), Binding::Sign};
      case ElemOp::Minimum:
        return bound(node, words.atMost);
      case ElemOp::Maximum:
        return bound(node, words.atLeast);
      case ElemOp::Pow:
        return call(std::string(words.power), {node.a, node.b});
      case ElemOp::Select:
        return call(named("where"), {node.a, node.b, node.c});
      case ElemOp::Cast:
        return cast(of(node.a), node.dtype >= 0 ? static_cast<tbem_dtype>(node.dtype) : resultType());
      case ElemOp::Random:
        return said(words.random, pythonText(row.shape(op.outputs.front())));
      default:
        return call(named(graph::nameOf(node.op)), {node.a});
    }
  }

  /// `x = x`, which holds for numbers.
  bool isOfItself(const ElemNode& node) const {
    if (node.op != ElemOp::Equal) return false;
    const ElemNode& left = op.elementwise.nodes[node.a];
    const ElemNode& right = op.elementwise.nodes[node.b];
    return node.a == node.b || (left.op == ElemOp::Input && right.op == ElemOp::Input && left.input == right.input);
  }
  Marked isNan(const ElemNode& equal) { return named("isnan") + "(" + part(equal.a, Binding::Any) + ")"; }

  static std::string realText(double value) { return pythonReal(Rational::fromDouble(value).value_or(Rational{})); }

  tbem_dtype resultType() const { return row.graph()[op.outputs.front()].dtype; }
  std::string named(std::string_view function) const { return fmt::format("{}{}", words.prefix, function); }
  bool isNumber(std::uint32_t position) const {
    const ElemOp kind = op.elementwise.nodes[position].op;
    return kind == ElemOp::Constant || kind == ElemOp::Scalar;
  }

  Text number(const Rational& value) const {
    const std::string text = value.isInt() && tbem_is_floating(resultType()) == 0 ? pythonText(value.num) : pythonReal(value);
    return {text, text.starts_with('-') ? Binding::Sign : Binding::Atom};
  }

  Marked part(std::uint32_t position, Binding least, bool isReal = false) {
    const bool isMade = isReal && !words.promotes && kind(position) == NumberKind::Whole;
    const ElemNode& node = op.elementwise.nodes[position];
    const bool isIndex = node.op == ElemOp::Index;
    Text text = isIndex ? coordinate(node.input, isMade ? TBEM_F64 : TBEM_I64) : of(position);
    if (isMade && !isIndex) text = cast(text, TBEM_F64);
    return text.binding < least ? "(" + text.text + ")" : text.text;
  }

  Text infix(const ElemNode& node, const char* sign, Binding binding) {
    const auto [left, right] = sidesOf(binding);
    const bool isReal = node.op == ElemOp::Div || std::max(kind(node.a), kind(node.b)) == NumberKind::Real;
    return {fmt::format("{} {} {}", part(node.a, left, isReal), sign, part(node.b, right, isReal)), binding};
  }

  Text call(const std::string& callee, const std::vector<std::uint32_t>& operands) {
    std::string arguments;
    const bool isReal =
        std::any_of(operands.begin(), operands.end(), [&](std::uint32_t one) { return kind(one) == NumberKind::Real; });
    for (const std::uint32_t one : operands) arguments += (arguments.empty() ? "" : ", ") + part(one, Binding::Any, isReal);
    return {callee + "(" + arguments + ")", Binding::Atom};
  }

  /// The larger or the smaller of two, of which one may be a number: a bound of the other.
  Text bound(const ElemNode& node, std::string_view pattern) {
    if (isNumber(node.a) == isNumber(node.b)) return call(named(graph::nameOf(node.op)), {node.a, node.b});
    const std::uint32_t limit = isNumber(node.a) ? node.a : node.b, other = isNumber(node.a) ? node.b : node.a;
    return said(pattern, part(other, Binding::Any, kind(limit) == NumberKind::Real), part(limit, Binding::Any));
  }

  /// The operand, with its dimensions where the result has them.
  Text input(std::uint32_t position) {
    const graph::TensorId tensor = op.inputs[position];
    const std::vector<std::int32_t>& axes = op.elementwise.operands[position].axes;
    const std::size_t rank = row.graph()[op.outputs.front()].shape.size();
    // Dimensions of size 1 are read at 0 wherever they stand; the others are in order, or are put so.
    std::vector<std::int64_t> place(rank, -1);
    bool inOrder = true;
    std::int32_t before = -1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (axes[k] < 0) continue;
      inOrder = inOrder && axes[k] > before;
      before = axes[k];
      place[static_cast<std::size_t>(axes[k])] = static_cast<std::int64_t>(k);
    }
    bool trailing = true;
    for (std::size_t k = 0; k < axes.size(); ++k)
      trailing = trailing && (axes[k] < 0 || static_cast<std::size_t>(axes[k]) + axes.size() == rank + k);
    Marked text = operand(tensor, Binding::Atom);
    if (trailing) return {text, Binding::Atom};
    if (std::any_of(axes.begin(), axes.end(), [](std::int32_t axis) { return axis < 0; })) {
      std::string first;  // of dimensions of size 1
      std::int64_t left = 0;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        first += fmt::format("{}{}", k == 0 ? "" : ", ", axes[k] < 0 ? "0" : ":");
        if (axes[k] >= 0) place[static_cast<std::size_t>(axes[k])] = left++;
      }
      text += "[" + first + "]";
    }
    if (!inOrder) {
      std::string order;
      for (const std::int64_t k : place) {
        if (k >= 0) order += fmt::format("{}{}", order.empty() ? "" : ", ", k);
      }
      text = fmt::format(fmt::runtime(words.permuted), text, order);
    }
    std::string index;
    for (std::size_t axis = 0; axis < rank; ++axis)
      index += fmt::format("{}{}", axis == 0 ? "" : ", ", place[axis] >= 0 ? ":" : "None");
    return {fmt::format("{}[{}]", text, index), Binding::Atom};
  }

  /// The number of the element along a dimension of the result.
  Text coordinate(std::uint32_t axis, tbem_dtype type) {
    const std::vector<std::int64_t> shape = row.shape(op.outputs.front());
    std::string index;
    for (std::size_t k = axis + 1; k < shape.size(); ++k) index += ", None";
    const std::string range =
        fmt::format(fmt::runtime(words.range), scribe.hole("size", pythonText(shape[axis])), words.type(type));
    return {index.empty() ? range : fmt::format("{}[:{}]", range, index), Binding::Atom};
  }

  const graph::Row& row;
  const graph::Op& op;
  const ElementWords& words;
  const OperandText& operand;
  Scribe& scribe;
};

}  // namespace

tl::expected<Code, Refusal> elementCode(const graph::Row& row, const graph::Op& op, const ElementWords& words,
                                        const OperandText& operand, Scribe& scribe) {
  Code code;
  if (op.kind == graph::OpKind::View) {
    std::string sizes;
    const std::vector<std::int64_t> shape = row.shape(op.outputs.front());
    for (const std::int64_t size : shape) sizes += sizes.empty() ? "-1" : ", " + scribe.hole("size", pythonText(size));
    code.text = fmt::format(fmt::runtime(words.reshaped), operand(op.inputs.front(), leastIn(words.reshaped)),
                            sizes.empty() ? std::string(words.scalar) : sizes, shape.size() == 1 ? "," : "");
    return code;
  }
  if (row.graph()[row.graph()[op.outputs.front()].storage].kind == graph::StorageClass::Buffer)
    return tl::unexpected(
        Refusal{op.range, "`" + op.declaration + "`", "It writes a buffer, which has no form in this program yet."});
  if (op.kind == graph::OpKind::Elementwise && op.outputs.size() == 1) {
    const Text text = Expression(row, op, words, operand, scribe).whole();
    code.text = text.text;
    code.binding = text.binding;
    return code;
  }
  const std::string what =
      op.own.symbol.empty() ? "`" + op.declaration + "`" : "`" + op.declaration + "`, whose code is its own,";
  return tl::unexpected(Refusal{op.range, what,
                                fmt::format("{} has no operator for it here; one that is written element by element, or of the "
                                            "standard library's, has.",
                                            words.framework)});
}

}  // namespace tbem::emit
