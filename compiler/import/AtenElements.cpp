// Element-wise operators, products of matrices, softmax and attention.
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
  if (node.isTensor(position)) return node.operand(position, least);
  if (node.at(position).kind == Argument::Kind::Size) return node.size(node.at(position).size, "size");
  if (!node.at(position).isNumber()) return std::nullopt;
  const std::optional<std::string> text = numberText(node.at(position).real);
  if (!text) return std::nullopt;
  const Marked marked = node.hole("value", *text);
  return text->front() == '-' ? "(" + marked + ")" : marked;
}

bool isInteger(const Facts& facts) { return facts.type.starts_with("int") || facts.type == "bool"; }

std::optional<Expression> arithmetic(const NodeReader& node, const Infix& sign) {
  const emit::Sides sides = emit::sidesOf(sign.binding);
  if (node.has(3, "rounding_mode") || node.has(2, "rounding_mode")) return std::nullopt;
  // Quotients of integers are real in PyTorch.
  if (sign.word == "div" && isInteger(node.facts(0))) return std::nullopt;
  std::optional<Marked> left = operandOrNumber(node, 0, sides.left), right = operandOrNumber(node, 1, sides.right);
  if (!left || !right) return std::nullopt;
  if (const double alpha = node.real(2, "alpha", 1); alpha != 1) {
    const std::optional<std::string> factor = numberText(alpha);
    if (!factor) return std::nullopt;
    *right = fmt::format("{} * {}", node.hole("alpha", *factor), node.isTensor(1) ? node.operand(1, Binding::Sign) : *right);
    if (sign.binding == Binding::Product) return std::nullopt;
  }
  return infix(*left, sign.sign, *right, sign.binding);
}

std::optional<Expression> pairOf(const NodeReader& node, const Pair& pair) {
  if (node.isTensor(1)) {
    const std::size_t first = pair.exchanged ? 1 : 0;
    return call(pair.tensors, {node.operand(first), node.operand(1 - first)});
  }
  const std::optional<std::string> value = pair.scalar == nullptr ? std::nullopt : numberText(node.at(1).real);
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
  return call(word, {node.operand(0), fmt::format("fill(shape: [1], value: {})", node.hole(name, *bound))});
}

std::optional<Expression> clamped(const NodeReader& node) {
  const bool hasLow = node.at(1, "min").isNumber(), hasHigh = node.at(2, "max").isNumber();
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

std::optional<Expression> attention(const NodeReader& node) {
  const double rate = node.real(4, "dropout_p", 0), scale = node.real(6, "scale", 0);
  const auto width = static_cast<double>(node.dimension(0, node.facts(0).rank() - 1).number);
  const bool isScaledAsUsual = !node.has(6, "scale") || std::abs(scale * std::sqrt(width) - 1) < 1e-12;
  const bool repeatsHeads = node.flag(7, "enable_gqa", false) && node.dimension(0, 1).number != node.dimension(1, 1).number;
  const std::optional<std::string> dropout = numberText(rate);
  if (repeatsHeads || !dropout) return std::nullopt;
  const bool causal = node.flag(5, "is_causal", false);
  if (!node.has(3, "attn_mask") && isScaledAsUsual)
    return call(
        "scaled_dot_product_attention", {node.operand(0), node.operand(1), node.operand(2)},
        {{"causal", node.hole("causal", causal ? "true" : "false"), "false"}, {"dropout", node.hole("dropout", *dropout), "0"}});
  if (causal || rate != 0) return std::nullopt;
  const std::optional<std::string> factor = numberText(isScaledAsUsual ? 1 / std::sqrt(width) : scale);
  if (!factor) return std::nullopt;
  // With a mask: what a table adds to the scores, or where they count.
  Expression made;
  const std::string scores =
      fmt::format("matmul({}, {}, transpose_b: true) * {}", node.operand(0), node.operand(1), node.hole("scale", *factor));
  std::string masked = scores;
  if (node.has(3, "attn_mask")) {
    const std::size_t maskAt = 3;
    const auto mask = node.at(maskAt, "attn_mask").value;
    const Marked operand = emit::Scribe::operand(NodeReader::tensor(mask), Binding::Product);
    masked = node.exported[mask].facts.type == "bool" ? fmt::format("where({}, {}, fill(shape: [1], value: -1e30))",
                                                                    emit::Scribe::operand(NodeReader::tensor(mask)), scores)
                                                      : fmt::format("{} + {}", scores, operand);
  }
  made.text = fmt::format("matmul(softmax({}, axis: -1), {})", masked, node.operand(2));
  return made;
}

std::optional<Expression> product(const NodeReader& node, std::string_view word) {
  if (word != "addmm" && word != "baddbmm") return call("matmul", {node.operand(0), node.operand(1)});
  if (node.real(3, "beta", 1) != 1 || node.real(4, "alpha", 1) != 1) return std::nullopt;
  Expression made;
  made.text = fmt::format("{} + matmul({}, {})", node.operand(0, Binding::Sum), node.operand(1), node.operand(2));
  made.binding = Binding::Sum;
  return made;
}

/// Products of matrices as einsum has them: "bhid, bhjd -> bhij", with the same leading letters everywhere.
std::optional<Expression> contraction(const NodeReader& node) {
  std::string equation;
  for (const char c : node.at(0).text) {
    if (c != ' ') equation += c;
  }
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  const std::vector<Argument>& operands = node.at(1).items;
  if (operands.size() != 2 || comma == std::string::npos || arrow == std::string::npos || arrow < comma) return std::nullopt;
  std::string left = equation.substr(0, comma), right = equation.substr(comma + 1, arrow - comma - 1),
              result = equation.substr(arrow + 2);
  if (left.size() < 2 || right.size() != left.size() || result.size() != left.size()) return std::nullopt;
  const std::size_t lead = left.size() - 2;
  if (left.substr(0, lead) != result.substr(0, lead) || right.substr(0, lead) != result.substr(0, lead)) return std::nullopt;
  const char row = result[lead], column = result[lead + 1];
  const bool turnsLeft = left[lead + 1] == row, turnsRight = right[lead] == column;
  const char summed = left[turnsLeft ? lead : lead + 1];
  if (left[turnsLeft ? lead + 1 : lead] != row || right[turnsRight ? lead : lead + 1] != column) return std::nullopt;
  if (right[turnsRight ? lead + 1 : lead] != summed || summed == row || summed == column) return std::nullopt;
  return call("matmul",
              {emit::Scribe::operand(NodeReader::tensor(operands[0].value)),
               emit::Scribe::operand(NodeReader::tensor(operands[1].value))},
              {{"transpose_a", turnsLeft ? "true" : "false", "false"}, {"transpose_b", turnsRight ? "true" : "false", "false"}});
}

std::optional<Expression> choice(const NodeReader& node, std::string_view word) {
  if (word == "where") {
    if (!node.isTensor(0)) return std::nullopt;
    const auto either = [&](std::size_t position) -> std::optional<Marked> {
      if (node.isTensor(position)) return node.operand(position);
      const std::optional<std::string> number = numberText(node.at(position).real);
      return number ? std::optional(fmt::format("fill(shape: [1], value: {})", node.hole("value", *number))) : std::nullopt;
    };
    const std::optional<Marked> yes = either(1), no = either(2);
    return yes && no ? std::optional(call("where", {node.operand(0), *yes, *no})) : std::nullopt;
  }
  // masked_fill(x, mask, value); minus infinity is the lowest number that sums and products still leave finite.
  if (node.isTensor(2)) return std::nullopt;
  const double value = node.at(2).real;
  const std::optional<std::string> number =
      std::isinf(value) ? std::optional<std::string>(value < 0 ? "-1e30" : "1e30") : numberText(value);
  if (!number) return std::nullopt;
  return call("where",
              {node.operand(1), fmt::format("fill(shape: [1], value: {})", node.hole("value", *number)), node.operand(0)});
}

std::optional<Expression> converted(const NodeReader& node) {
  const std::string type = typeText(node.result().type);
  if (type.empty()) return std::nullopt;
  return call("cast", {node.operand(0)}, {{"to", type, ""}});
}

}  // namespace

std::optional<Expression> elementsOf(const NodeReader& node, std::string_view word) {
  for (const auto& [theirs, ours] : kFunctions) {
    if (theirs == word) return call(ours, {node.operand(0)});
  }
  for (const Infix& sign : kInfix) {
    if (sign.word == word) return arithmetic(node, sign);
  }
  for (const Pair& pair : kPairs) {
    if (pair.word == word) return pairOf(node, pair);
  }
  const bool isBool = !node.node.arguments.empty() && node.isTensor(0) && node.facts(0).type == "bool";
  if (word == "bitwise_not" && isBool) return call("logical_not", {node.operand(0)});
  if (word == "bitwise_and" && isBool && node.isTensor(1)) return call("logical_and", {node.operand(0), node.operand(1)});
  if (word == "bitwise_or" && isBool && node.isTensor(1)) return call("logical_or", {node.operand(0), node.operand(1)});
  if (word == "neg") return call("neg", {node.operand(0)});
  if (word == "reciprocal") return infix("1", "/", node.operand(0, Binding::Sign), Binding::Product);
  if (word == "gelu") {
    const bool isApproximate = node.at(1, "approximate").text == "tanh";
    return call("gelu", {node.operand(0)},
                {{"approximate", node.hole("approximate", isApproximate ? "true" : "false"), "false"}});
  }
  if (word == "elu") return withNumber(node, "elu", "alpha", node.real(1, "alpha", 1), "1");
  if (word == "leaky_relu") return withNumber(node, "leaky_relu", "slope", node.real(1, "negative_slope", 0.01), "0.01");
  if (word == "softplus" && node.real(1, "beta", 1) == 1) return call("softplus", {node.operand(0)});
  if (word.ends_with("dropout")) return withNumber(node, "dropout", "p", node.real(1, "p", 0.5), "0.5");
  if (word == "stochastic_depth") return withNumber(node, "stochastic_depth", "p", node.real(1, "p", 0), "");
  if (word == "hardtanh") return hardTanh(node);
  if (word == "clamp") return clamped(node);
  if (word == "clamp_min" || word == "clamp_max") return bounded(node, word == "clamp_min" ? "maximum" : "minimum", 1, "value");
  if (word == "einsum") return contraction(node);
  if (word == "pow") return power(node);
  if (word == "rsub") return difference(node);
  if (word == "softmax" || word == "log_softmax") return softmax(node, word == "softmax" ? "softmax" : "log_softmax");
  if (word == "_softmax" || word == "_log_softmax") return softmax(node, word == "_softmax" ? "softmax" : "log_softmax");
  if (word == "scaled_dot_product_attention") return attention(node);
  if (word == "matmul" || word == "bmm" || word == "mm" || word == "addmm" || word == "baddbmm") return product(node, word);
  if (word == "where" || word == "masked_fill") return choice(node, word);
  if (word == "to" || word == "_to_copy" || word == "type_as" || word == "float" || word == "double") return converted(node);
  return std::nullopt;
}

}  // namespace tbem::imports
