// Element-wise operators and softmax.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tbem::imports {

namespace {

/// Functions of one tensor that are called alike but for the word.
constexpr std::array<std::pair<std::string_view, const char*>, 22> kFunctions = {{{"relu", "relu"},
                                                                                  {"relu6", "relu6"},
                                                                                  {"sigmoid", "sigmoid"},
                                                                                  {"tanh", "tanh"},
                                                                                  {"silu", "silu"},
                                                                                  {"hardswish", "hard_swish"},
                                                                                  {"hardsigmoid", "hard_sigmoid"},
                                                                                  {"selu", "selu"},
                                                                                  {"mish", "mish"},
                                                                                  {"exp", "exp"},
                                                                                  {"log", "log"},
                                                                                  {"log1p", "log1p"},
                                                                                  {"expm1", "expm1"},
                                                                                  {"sqrt", "sqrt"},
                                                                                  {"rsqrt", "rsqrt"},
                                                                                  {"abs", "abs"},
                                                                                  {"sign", "sign"},
                                                                                  {"floor", "floor"},
                                                                                  {"sin", "sin"},
                                                                                  {"cos", "cos"},
                                                                                  {"square", "square"},
                                                                                  {"logical_not", "logical_not"}}};

struct Infix {
  std::string_view word;
  const char* sign;
  Binding binding;
};
constexpr std::array<Infix, 4> kInfix = {
    {{"add", "+", Binding::Sum}, {"sub", "-", Binding::Sum}, {"mul", "*", Binding::Product}, {"div", "/", Binding::Product}}};

/// Comparisons and extrema of two tensors; of a tensor and a number by another word, where there is one.
struct Pair {
  std::string_view word;
  const char* tensors;
  const char* scalar;
  bool exchanged;  ///< a > b is b < a
};
constexpr std::array<Pair, 10> kPairs = {{{"lt", "less", "less_scalar", false},
                                          {"le", "less_equal", "less_equal_scalar", false},
                                          {"gt", "less", "greater_scalar", true},
                                          {"ge", "less_equal", "greater_equal_scalar", true},
                                          {"eq", "equal", "equal_scalar", false},
                                          {"ne", "not_equal", "not_equal_scalar", false},
                                          {"maximum", "maximum", nullptr, false},
                                          {"minimum", "minimum", nullptr, false},
                                          {"logical_and", "logical_and", nullptr, false},
                                          {"logical_or", "logical_or", nullptr, false}}};

/// The operand, or the number that stands in its place.
std::optional<Marked> operandOrNumber(const NodeReader& node, std::size_t position, Binding least) {
  if (node.isTensor(position)) return node.promoted(position, least);
  if (node.at(position).kind == Argument::Kind::Size) return node.size(node.at(position).size, "size");
  if (!node.at(position).isNumber()) return std::nullopt;
  const std::optional<std::string> text = numberText(node.at(position).real);
  if (!text) return std::nullopt;
  const Marked marked = node.hole("value", *text);
  return text->front() == '-' ? "(" + marked + ")" : marked;
}

std::optional<Expression> arithmetic(const NodeReader& node, const Infix& sign) {
  const emit::Sides sides = emit::sidesOf(sign.binding);
  std::optional<Marked> left = operandOrNumber(node, 0, sides.left), right = operandOrNumber(node, 1, sides.right);
  if (!left || !right) return std::nullopt;
  if (const double alpha = node.real(2, "alpha", 1); alpha != 1) {
    const std::optional<std::string> factor = numberText(alpha);
    if (!factor) return std::nullopt;
    *right = fmt::format("{} * {}", node.hole("alpha", *factor), node.isTensor(1) ? node.promoted(1, Binding::Sign) : *right);
    if (sign.binding == Binding::Product) return std::nullopt;
  }
  return infix(*left, sign.sign, *right, sign.binding);
}

std::optional<Expression> pairOf(const NodeReader& node, const Pair& pair) {
  if (node.isTensor(1)) {
    const std::size_t first = pair.exchanged ? 1 : 0;
    const bool mixes = isReal(node.facts(0)) != isReal(node.facts(1));
    const auto side = [&](std::size_t position) { return mixes ? node.asReal(position) : node.operand(position); };
    return call(pair.tensors, {side(first), side(1 - first)});
  }
  const std::optional<std::string> value = pair.scalar == nullptr ? std::nullopt : numberText(node.real(1, "", 0));
  if (!value) return std::nullopt;
  return call(pair.scalar, {node.operand(0)}, {{"", node.hole("value", *value), ""}});
}

std::optional<Expression> withNumber(const NodeReader& node, const char* callee, const char* name, double number,
                                     const char* standard) {
  const std::optional<std::string> text = numberText(number);
  if (!text) return std::nullopt;
  return call(callee, {node.operand(0)}, {{name, node.hole(name, *text), standard}});
}

/// The larger or smaller of the operand and a number.
std::optional<Expression> bounded(const NodeReader& node, const char* word, std::size_t position, const char* name) {
  const std::optional<std::string> bound = numberText(node.real(position, name, 0));
  if (!bound || node.isTensor(position)) return std::nullopt;
  return call(word, {node.operand(0), filledWith(node.hole(name, *bound), node.result().type)});
}

std::optional<Expression> clamped(const NodeReader& node) {
  const bool hasLow = node.has(1, "min"), hasHigh = node.has(2, "max");
  const std::optional<std::string> low = numberText(node.real(1, "min", 0)), high = numberText(node.real(2, "max", 0));
  if (!low || !high) return std::nullopt;
  if (hasLow && hasHigh)
    return call("clamp", {node.operand(0)}, {{"low", node.hole("low", *low), ""}, {"high", node.hole("high", *high), ""}});
  if (hasLow) return bounded(node, "maximum", 1, "min");
  return hasHigh ? bounded(node, "minimum", 2, "max") : std::nullopt;
}

std::optional<Expression> hardTanh(const NodeReader& node) {
  const double low = node.real(1, "min_val", -1), high = node.real(2, "max_val", 1);
  if (low == 0 && high == 6) return call("relu6", {node.operand(0)});
  const std::optional<std::string> lowText = numberText(low), highText = numberText(high);
  if (!lowText || !highText) return std::nullopt;
  return call("hard_tanh", {node.operand(0)},
              {{"low", node.hole("low", *lowText), "-1"}, {"high", node.hole("high", *highText), "1"}});
}

std::optional<Expression> power(const NodeReader& node) {
  if (!node.isTensor(0) || !node.at(1).isNumber()) return std::nullopt;
  const double exponent = node.at(1).real;
  if (exponent == 2) return call("square", {node.operand(0)});
  return withNumber(node, "pow", "exponent", exponent, "");
}

std::optional<Expression> difference(const NodeReader& node) {  // rsub(a, b) is b - a
  const emit::Sides sides = emit::sidesOf(Binding::Sum);
  const std::optional<Marked> left = operandOrNumber(node, 1, sides.left);
  if (!left || node.real(2, "alpha", 1) != 1) return std::nullopt;
  return infix(*left, "-", node.operand(0, sides.right), Binding::Sum);
}

std::optional<Expression> softmax(const NodeReader& node, const char* word) {
  return call(word, {node.operand(0)}, {{"axis", node.hole("axis", node.integer(1, "dim", -1)), "1"}});
}

std::optional<Expression> choice(const NodeReader& node, std::string_view word) {
  if (word == "where") {
    if (!node.isTensor(0)) return std::nullopt;
    const auto either = [&](std::size_t position) -> std::optional<Marked> {
      if (node.isTensor(position)) return node.promoted(position);
      const std::optional<std::string> number = lowText(node.real(position, "", 0));
      return number ? std::optional(filledWith(node.hole("value", *number), node.result().type)) : std::nullopt;
    };
    const std::optional<Marked> yes = either(1), no = either(2);
    return yes && no ? std::optional(call("where", {node.operand(0), *yes, *no})) : std::nullopt;
  }
  // masked_fill(x, mask, value)
  if (node.isTensor(2)) return call("where", {node.operand(1), node.promoted(2), node.operand(0)});
  const std::optional<std::string> number = lowText(node.real(2, "", 0));
  if (!number) return std::nullopt;
  return call("where", {node.operand(1), filledWith(node.hole("value", *number), node.result().type), node.operand(0)});
}

std::optional<Expression> converted(const NodeReader& node) {
  const std::string type = typeText(node.result().type);
  if (type.empty()) return std::nullopt;
  if (isReal(node.result()) && isIntegral(node.facts(0))) return call("as_real", {node.operand(0)});
  if (isReal(node.result()) && !isReal(node.facts(0))) {
    Expression made;
    made.text = node.asReal(0);
    return made;
  }
  return call("cast", {node.operand(0)}, {{"to", type, ""}});
}

/// Quotients of integers rounded down, and what they leave.
std::optional<Expression> floored(const NodeReader& node, std::string_view word) {
  if (word == "div" && node.at(2, "rounding_mode").text != "floor") return std::nullopt;
  if (!isIntegral(node.result()) || node.isTensor(1) || !node.at(1).isNumber() || node.at(1).integer < 1) return std::nullopt;
  const Marked divisor = node.hole("divisor", node.at(1).integer);
  Expression made;
  made.text = fmt::format("cast(floor({} / {}), to: i64)", node.asReal(0, Binding::Product), divisor);
  if (word != "remainder") return made;
  made.text = fmt::format("{} - {} * {}", node.operand(0, Binding::Sum), made.text, divisor);
  made.binding = Binding::Sum;
  return made;
}

/// x + value * a * b, or x + value * a / b.
std::optional<Expression> addedProduct(const NodeReader& node, bool divides) {
  const std::optional<std::string> value = numberText(node.real(3, "value", 1));
  if (!value) return std::nullopt;
  const std::string factor = *value == "1" ? "" : node.hole("value", *value) + " * ";
  return infix(
      node.promoted(0, Binding::Sum), "+",
      fmt::format("{}{} {} {}", factor, node.promoted(1, Binding::Product), divides ? "/" : "*", node.promoted(2, Binding::Sign)),
      Binding::Sum);
}

std::optional<Expression> gatedHalf(const NodeReader& node) {  // glu(x, dim)
  const auto axis = static_cast<std::int64_t>(node.axis(1, "dim", -1, node.facts(0).rank()));
  const std::vector<Size>& shape = node.result().shape;
  const Size& half = shape[static_cast<std::size_t>(axis)];
  if (!half.symbolic.empty()) return std::nullopt;
  std::string starts, sizes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    starts += (d == 0 ? "" : ", ") + (static_cast<std::int64_t>(d) == axis ? node.size(half, "half") : Marked("0"));
    sizes += (d == 0 ? "" : ", ") + node.size(shape[d], "size");
  }
  Expression made;
  made.text = fmt::format("slice({0}, start: {1}, size: [{2}]) * sigmoid(slice({0}, start: [{3}], size: [{2}]))", node.operand(0),
                          listText(std::vector<std::int64_t>(shape.size(), 0)), sizes, starts);
  made.binding = Binding::Product;
  return made;
}

}  // namespace

std::optional<Expression> elementsOf(const NodeReader& node, std::string_view word) {
  for (const auto& [theirs, ours] : kFunctions) {
    if (theirs == word) return call(ours, {node.operand(0)});
  }
  for (const Infix& sign : kInfix) {
    if (sign.word == word && !(word == "div" && node.has(2, "rounding_mode"))) return arithmetic(node, sign);
  }
  for (const Pair& pair : kPairs) {
    if (pair.word == word) return pairOf(node, pair);
  }
  if (word == "div" || word == "floor_divide" || word == "remainder") return floored(node, word);
  if (word == "glu") return gatedHalf(node);
  if (word == "addcmul" || word == "addcdiv") return addedProduct(node, word == "addcdiv");
  const bool isBool = !node.node.arguments.empty() && node.isTensor(0) && node.facts(0).type == "bool";
  if (word == "bitwise_not" && isBool) return call("logical_not", {node.operand(0)});
  if ((word == "bitwise_and" || word == "__and__") && isBool && node.isTensor(1))
    return call("logical_and", {node.operand(0), node.operand(1)});
  if ((word == "bitwise_or" || word == "__or__") && isBool && node.isTensor(1))
    return call("logical_or", {node.operand(0), node.operand(1)});
  if (word == "neg") return call("neg", {node.operand(0)});
  if (word == "ceil") {
    Expression made;
    made.text = fmt::format("neg(floor(neg({})))", node.operand(0));
    return made;
  }
  if (word == "reciprocal") return infix("1", "/", node.operand(0, Binding::Sign), Binding::Product);
  if (word == "gelu") {
    const bool isApproximate = node.at(1, "approximate").text == "tanh";
    return call("gelu", {node.operand(0)},
                {{"approximate", node.hole("approximate", isApproximate ? "true" : "false"), "false"}});
  }
  if (word == "elu" && (node.real(2, "scale", 1) != 1 || node.real(3, "input_scale", 1) != 1)) return std::nullopt;
  if (word == "elu") return withNumber(node, "elu", "alpha", node.real(1, "alpha", 1), "1");
  if (word == "leaky_relu") return withNumber(node, "leaky_relu", "slope", node.real(1, "negative_slope", 0.01), "0.01");
  if (word == "softplus" && node.real(1, "beta", 1) == 1) return call("softplus", {node.operand(0)});
  if (word == "dropout") return withNumber(node, "dropout", "p", node.real(1, "p", 0.5), "0.5");
  if (word == "stochastic_depth") return withNumber(node, "stochastic_depth", "p", node.real(1, "p", 0), "");
  if (word == "hardtanh") return hardTanh(node);
  if (word == "clamp") return clamped(node);
  if (word == "clamp_min" || word == "clamp_max") return bounded(node, word == "clamp_min" ? "maximum" : "minimum", 1, "value");
  if (word == "pow") return power(node);
  if (word == "rsub") return difference(node);
  if (word == "softmax" || word == "log_softmax") return softmax(node, word == "softmax" ? "softmax" : "log_softmax");
  if (word == "_softmax" || word == "_log_softmax") return softmax(node, word == "_softmax" ? "softmax" : "log_softmax");
  if (word == "where" || word == "masked_fill") return choice(node, word);
  if (word == "to" || word == "_to_copy" || word == "type_as" || word == "float" || word == "double" || word == "long" ||
      word == "int" || word == "bool")
    return converted(node);
  return std::nullopt;
}

}  // namespace tbem::imports
