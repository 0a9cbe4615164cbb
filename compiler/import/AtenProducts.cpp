// Products of matrices, sums of products as einsum has them, and attention.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::imports {

namespace {

/// The heads of keys or values, each as often as `count` heads of queries share it (Ainslie et al. 2023).
Marked sharedHeads(const NodeReader& node, std::size_t position) {
  const std::vector<Size>& shape = node.facts(position).shape;
  if (shape.size() != 4 || node.facts(0).rank() != 4) throw UnlikeNode();
  const std::int64_t heads = shape[1].number, queries = node.dimension(0, 1).number;
  if (heads == queries) return node.operand(position);
  if (heads == 0 || queries % heads != 0) throw UnlikeNode();
  const auto size = [&](std::size_t axis) { return node.size(shape[axis], "size"); };
  const std::string n = size(0), h = size(1), l = size(2), d = size(3), count = node.hole("count", queries / heads);
  return fmt::format(
      "{} |> reshape(shape: [{}, {}, 1, {}, {}]) |> broadcast_to(shape: [{}, {}, {}, {}, {}]) |> reshape(shape: [{}, {}, {}, "
      "{}])",
      node.operand(position, Binding::Atom), n, h, l, d, n, h, count, l, d, n, node.hole("heads", queries), l, d);
}

std::optional<Expression> attention(const NodeReader& node) {
  const std::size_t rank = node.facts(0).rank();
  if (rank < 2) throw UnlikeNode();
  const auto width = static_cast<double>(node.dimension(0, rank - 1).number);
  const double usual = 1 / std::sqrt(width), scale = node.real(6, "scale", usual);
  const bool isScaledAsUsual = std::abs(scale / usual - 1) < 1e-12;
  const std::optional<std::string> dropout = numberText(node.real(4, "dropout_p", 0));
  const std::optional<std::string> ratio = numberText(scale / usual);
  if (!dropout || !ratio) return std::nullopt;
  const bool grouped = node.flag(7, "enable_gqa", false) && node.dimension(0, 1).number != node.dimension(1, 1).number;
  const Marked key = grouped ? sharedHeads(node, 1) : node.operand(1), value = grouped ? sharedHeads(node, 2) : node.operand(2);
  const Marked query =
      isScaledAsUsual ? node.operand(0) : fmt::format("{} * {}", node.operand(0, Binding::Product), node.hole("scale", *ratio));
  const bool hasMask = node.at(3, "attn_mask").kind == Argument::Kind::Value;
  const bool causal = node.flag(5, "is_causal", false);
  if (hasMask && causal) return std::nullopt;
  const emit::Argument left{"dropout", node.hole("dropout", *dropout), "0"};
  if (!hasMask)
    return call("scaled_dot_product_attention", {query, key, value},
                {{"causal", node.hole("causal", causal ? "true" : "false"), "false"}, left});
  const ValueId mask = node.at(3, "attn_mask").value;  // what is added to the scores, or where they count
  const std::string added =
      node.exported[mask].facts.type == "bool"
          ? fmt::format("where({}, fill(shape: [1], value: 0), fill(shape: [1], value: -1e30))", NodeReader::operandOf(mask))
          : NodeReader::operandOf(mask);
  return call("masked_attention", {query, key, value, added}, {left});
}

std::optional<Expression> product(const NodeReader& node, std::string_view word) {
  const std::size_t right = word == "addmm" || word == "baddbmm" || word == "addmv" ? 2 : 1;
  if (node.facts(right).rank() == 1) {  // a matrix by a vector
    if (right != 1) return std::nullopt;
    Expression made;
    made.text = fmt::format("{} * {} |> sum(axis: -1)", node.operand(0, Binding::Product), node.operand(1, Binding::Sign));
    made.binding = kPipe;
    return made;
  }
  if (right == 1 && node.facts(0).rank() == 1) return std::nullopt;
  if (right == 1) return call("matmul", {node.operand(0), node.operand(1)});
  const double beta = node.real(3, "beta", 1), alpha = node.real(4, "alpha", 1);
  const std::optional<std::string> before = numberText(beta), factor = numberText(alpha);
  if (!before || !factor) return std::nullopt;
  Expression made;
  made.text = fmt::format("matmul({}, {})", node.operand(1), node.operand(2));
  if (alpha != 1) made.text += " * " + node.hole("alpha", *factor);
  if (beta == 1) made.text = node.operand(0, Binding::Sum) + " + " + made.text;
  if (beta != 0 && beta != 1)
    made.text = fmt::format("{} * {} + {}", node.operand(0, Binding::Product), node.hole("beta", *before), made.text);
  made.binding = beta != 0 ? Binding::Sum : alpha != 1 ? Binding::Product : Binding::Atom;
  return made;
}

/// "bhid,bhjd->bhij" in its parts.
struct Equation {
  std::string left, right, result;
};

std::optional<Equation> equationOf(const std::string& text) {
  std::string plain;
  std::copy_if(text.begin(), text.end(), std::back_inserter(plain), [](char c) { return c != ' '; });
  const std::size_t comma = plain.find(','), arrow = plain.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma) return std::nullopt;
  Equation equation{plain.substr(0, comma), plain.substr(comma + 1, arrow - comma - 1), plain.substr(arrow + 2)};
  for (const std::string* letters : {&equation.left, &equation.right, &equation.result}) {
    std::string sorted = *letters;
    std::sort(sorted.begin(), sorted.end());
    const bool isPlain = std::all_of(sorted.begin(), sorted.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
    if (!isPlain || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  }
  return equation;
}

/// A sum of products of two tensors, as a product of matrices: letters that both and the result have lead, those that both alone
/// have are summed over.
class Contraction {
public:
  Contraction(const NodeReader& node, const Equation& equation, ValueId left, ValueId right)
      : node(node), equation(equation), left(left), right(right) {
    const auto has = [](const std::string& letters, char c) { return letters.find(c) != std::string::npos; };
    for (const char c : equation.left) {
      const bool inRight = has(equation.right, c), inResult = has(equation.result, c);
      isKnown = isKnown && (inRight || inResult);
      (inRight && inResult ? lead : inRight ? summed : rows) += c;
    }
    for (const char c : equation.right) {
      if (!has(equation.left, c)) columns += c;
      isKnown = isKnown && (has(equation.left, c) || has(equation.result, c));
    }
    isKnown = isKnown && equation.result.size() == lead.size() + rows.size() + columns.size() &&
              equation.left.size() == node.exported[left].facts.rank() &&
              equation.right.size() == node.exported[right].facts.rank();
  }

  std::optional<Expression> expression() const {
    if (!isKnown) return std::nullopt;
    if (rows.size() == 1 && columns.size() == 1 && summed.size() == 1 && equation.result == lead + rows + columns) {
      const bool leads = equation.left.starts_with(lead) && equation.right.starts_with(lead);
      if (leads)
        return call("matmul", {NodeReader::operandOf(left), NodeReader::operandOf(right)},
                    {{"transpose_a", equation.left == lead + summed + rows ? "true" : "false", "false"},
                     {"transpose_b", equation.right == lead + columns + summed ? "true" : "false", "false"}});
    }
    Expression made;
    made.text = fmt::format("matmul({}, {})", ordered(left, equation.left, rows, summed),
                            ordered(right, equation.right, summed, columns));
    const std::string apart = lead + rows + columns;
    if (rows.size() != 1 || columns.size() != 1) made.text += fmt::format(" |> reshape(shape: [{}])", sizes(apart));
    if (apart != equation.result) made.text += fmt::format(" |> permute(order: {})", orderOf(apart, equation.result));
    if (made.text.find(" |> ") != std::string::npos) made.binding = kPipe;
    return made;
  }

private:
  Marked sizeOf(char letter) const {
    const std::size_t at = equation.left.find(letter);
    const Size& size = at != std::string::npos ? node.exported[left].facts.shape[at]
                                               : node.exported[right].facts.shape[equation.right.find(letter)];
    return node.size(size, "size");
  }
  std::string sizes(const std::string& letters) const {
    std::string text;
    for (const char c : letters) text += (text.empty() ? "" : ", ") + sizeOf(c);
    return text;
  }
  std::string product(const std::string& letters) const {
    std::string text;
    for (const char c : letters) text += (text.empty() ? "" : " * ") + sizeOf(c);
    return text.empty() ? "1" : text;
  }
  static std::string orderOf(const std::string& before, const std::string& after) {
    std::vector<std::int64_t> order;
    for (const char c : after) order.push_back(static_cast<std::int64_t>(before.find(c)));
    return listText(order);
  }
  /// The operand as matrices, behind the letters that lead.
  Marked ordered(ValueId value, const std::string& letters, const std::string& first, const std::string& second) const {
    Marked text = NodeReader::operandOf(value, Binding::Atom);
    const std::string wanted = lead + first + second;
    if (wanted != letters) text += fmt::format(" |> permute(order: {})", orderOf(letters, wanted));
    if (first.size() == 1 && second.size() == 1) return text;
    std::string shape = sizes(lead);
    shape += (shape.empty() ? "" : ", ") + product(first) + ", " + product(second);
    return text + fmt::format(" |> reshape(shape: [{}])", shape);
  }

  const NodeReader& node;
  const Equation& equation;
  ValueId left, right;
  std::string lead, rows, columns, summed;
  bool isKnown = true;
};

std::optional<Expression> contraction(const NodeReader& node) {
  const std::optional<Equation> equation = equationOf(node.at(0).text);
  const std::vector<Argument>& operands = node.at(1).items;
  if (!equation || operands.size() != 2) return std::nullopt;
  if (operands[0].kind != Argument::Kind::Value || operands[1].kind != Argument::Kind::Value) return std::nullopt;
  return Contraction(node, *equation, operands[0].value, operands[1].value).expression();
}

}  // namespace

std::optional<Expression> productOf(const NodeReader& node, std::string_view word) {
  if (word == "einsum") return contraction(node);
  if (word == "scaled_dot_product_attention") return attention(node);
  if (word == "matmul" || word == "bmm" || word == "mm" || word == "mv" || word == "addmm" || word == "baddbmm")
    return product(node, word);
  return std::nullopt;
}

}  // namespace tbem::imports
