// Operators that find elements by their numbers, repeat them, or put others into their places.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tbem::imports {

namespace {

bool isSingle(const Size& size) { return size.number == 1 && size.symbolic.empty(); }

/// The only axis along which the value has more than one element.
std::optional<std::size_t> onlyAxis(const Facts& facts) {
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < facts.rank(); ++d) {
    if (isSingle(facts.shape[d])) continue;
    if (axis) return std::nullopt;
    axis = d;
  }
  return axis;
}

bool isZero(const Argument& number) { return number.isNumber() && number.real == 0; }

/// Whether the elements are 0, 1, 2 .. in their order.
bool isCount(const Exported& exported, ValueId id) {
  const Value& value = exported[id];
  if (value.kind == Value::Kind::Constant)
    return value.pattern.kind == Pattern::Kind::Line && value.pattern.start == 0 && value.pattern.step == 1;
  if (value.kind != Value::Kind::Node || value.arguments.empty()) return false;
  const std::string word = wordOf(value);
  if (word == "arange") return value.arguments.size() < 3 && (value.arguments.size() == 1 || isZero(value.arguments[0]));
  const bool isMoved = word == "view" || word == "reshape" || word == "unsqueeze" || word == "squeeze";
  return isMoved && value.arguments[0].kind == Argument::Kind::Value && isCount(exported, value.arguments[0].value);
}

std::string product(const std::vector<Marked>& factors) {
  std::string text;
  for (const Marked& factor : factors) {
    if (factor == "1") continue;
    text += (text.empty() ? "" : " * ") + factor;
  }
  return text.empty() ? "1" : text;
}

/// x[i, j] with a tensor of numbers for each of some axes that lie side by side.
class Indexed {
public:
  Indexed(const NodeReader& node, std::size_t first, std::vector<ValueId> indices)
      : node(node), first(first), indices(std::move(indices)) {}

  std::optional<Expression> expression() const {
    const Facts& facts = node.facts(0);
    if (isWhole()) return call("reshape", {node.operand(0)}, {{"shape", node.shape(node.result().shape), ""}});
    if (indices.size() == 1)
      return call("gather", {node.operand(0), NodeReader::operandOf(indices[0])},
                  {{"axis", node.hole("axis", static_cast<std::int64_t>(first)), "0"}});
    std::vector<Marked> together, shape;
    std::string number;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      together.push_back(factor(facts.shape[first + k]));
      const Marked own = NodeReader::operandOf(indices[k], Binding::Product);
      number = k == 0 ? own : fmt::format("{} * {} + {}", k == 1 ? number : "(" + number + ")", together.back(), own);
    }
    for (std::size_t d = 0; d < facts.rank(); ++d) {
      if (d == first) shape.push_back(product(together));
      if (d < first || d >= first + indices.size()) shape.push_back(factor(facts.shape[d]));
    }
    return call("gather", {fmt::format("reshape({}, shape: [{}])", node.operand(0), fmt::join(shape, ", ")), number},
                {{"axis", node.hole("axis", static_cast<std::int64_t>(first)), "0"}});
  }

private:
  Marked factor(const Size& size) const { return isSingle(size) ? Marked("1") : node.size(size, "size"); }

  /// Whether the numbers count along all of x in its order, so that nothing but its shape changes.
  bool isWhole() const {
    const Facts& facts = node.facts(0);
    const std::size_t rank = node.result().rank() - (facts.rank() - indices.size());
    std::optional<std::size_t> last;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const Facts& index = node.exported[indices[k]].facts;
      const std::optional<std::size_t> axis = onlyAxis(index);
      if (!axis || !isCount(node.exported, indices[k]) || index.shape[*axis] != facts.shape[first + k]) return false;
      const std::size_t place = *axis + rank - index.rank();
      if (last && place <= *last) return false;
      last = place;
    }
    return true;
  }

  const NodeReader& node;
  std::size_t first;
  std::vector<ValueId> indices;
};

std::optional<Expression> indexed(const NodeReader& node) {
  const Argument& list = node.at(1, "indices");
  std::vector<ValueId> indices;
  std::size_t first = 0;
  for (std::size_t d = 0; d < list.items.size(); ++d) {
    if (list.items[d].isNone()) continue;
    if (list.items[d].kind != Argument::Kind::Value || !isIntegral(node.exported[list.items[d].value].facts)) return std::nullopt;
    if (indices.empty()) first = d;
    if (d != first + indices.size()) return std::nullopt;
    indices.push_back(list.items[d].value);
  }
  if (indices.empty() || first + indices.size() > node.facts(0).rank()) return std::nullopt;
  return Indexed(node, first, std::move(indices)).expression();
}

/// torch.gather: a number for each element along one axis, at its own place along the others.
std::optional<Expression> takenAlong(const NodeReader& node) {
  const Facts &facts = node.facts(0), &index = node.facts(2);
  if (index.rank() != facts.rank() || facts.rank() == 0) return std::nullopt;
  const std::size_t along = node.axis(1, "dim", 0, facts.rank());
  if (facts.rank() == 1) return call("gather", {node.operand(0), node.operand(2)});
  std::string number;
  std::vector<Marked> sizes;
  for (const Size& size : facts.shape) sizes.push_back(isSingle(size) ? Marked("1") : node.size(size, "size"));
  for (std::size_t d = 0; d < facts.rank(); ++d) {
    std::vector<Marked> step;
    for (std::size_t inner = d + 1; inner < facts.rank(); ++inner) step.push_back(sizes[inner]);
    if (d != along && isSingle(index.shape[d])) continue;
    std::string ones;
    for (std::size_t e = 0; e < facts.rank(); ++e)
      ones += (e == 0 ? "" : ", ") + (e == d ? node.size(index.shape[d], "size") : Marked("1"));
    const std::string place = d == along
                                  ? node.operand(2, Binding::Product)
                                  : fmt::format("(arange({}) |> reshape(shape: [{}]))", node.size(index.shape[d], "size"), ones);
    const std::string factor = product(step);
    number +=
        (number.empty() ? "" : " + ") + place + (factor == "1" ? "" : " * " + (step.size() > 1 ? "(" + factor + ")" : factor));
  }
  return call("gather", {fmt::format("reshape({}, shape: [{}])", node.operand(0), product(sizes)), number});
}

std::optional<Expression> counted(const NodeReader& node) {
  const std::size_t given = node.node.arguments.size();
  const double start = given > 1 ? node.real(0, "start", 0) : 0, step = given > 2 ? node.real(2, "step", 1) : 1;
  const std::optional<std::string> startText = numberText(start), stepText = numberText(step);
  if (!startText || !stepText || node.result().rank() != 1 || typeText(node.result().type).empty()) return std::nullopt;
  Expression count;
  count.text = fmt::format("arange({})", node.size(node.result().shape[0], "length"));
  if (isReal(node.result())) count.text = fmt::format("as_real({})", count.text);
  if (step != 1) count.text += " * " + node.hole("step", step < 0 ? "(" + *stepText + ")" : *stepText);
  if (start != 0) count.text += " + " + node.hole("start", start < 0 ? "(" + *startText + ")" : *startText);
  count.binding = start != 0 ? Binding::Sum : step != 1 ? Binding::Product : Binding::Atom;
  return count;
}

std::optional<Expression> summedUp(const NodeReader& node) {
  const auto axis = static_cast<std::int64_t>(node.axis(1, "dim", 0, node.facts(0).rank()));
  if (isReal(node.facts(0))) return call("cumsum", {node.operand(0)}, {{"axis", node.hole("axis", axis), "-1"}});
  if (isReal(node.result())) return call("cumsum", {node.asReal(0)}, {{"axis", node.hole("axis", axis), "-1"}});
  return call("cast", {fmt::format("cumsum({}, axis: {})", node.asReal(0), node.hole("axis", axis))}, {{"to", "i64", ""}});
}

/// The operand with an axis of length 1 beside each that is repeated, that one repeated, and the two as one. `inside`: behind it.
Expression repeatedAlong(const NodeReader& node, const std::vector<Marked>& counts, bool inside) {
  const Facts& facts = node.facts(0);
  const std::size_t more = counts.size() - facts.rank();
  std::string apart, repeated;
  const auto add = [&](const Marked& before, const Marked& after) {
    apart += (apart.empty() ? "" : ", ") + before;
    repeated += (repeated.empty() ? "" : ", ") + after;
  };
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const Marked size = d < more ? Marked("1") : node.size(facts.shape[d - more], "size");
    if (inside && counts[d] != "1") {
      add(size, size);
      add("1", counts[d]);
    } else {
      if (counts[d] != "1") add("1", counts[d]);
      if (d >= more) add(size, size);
    }
  }
  Expression made;
  made.text = fmt::format("{} |> reshape(shape: [{}]) |> broadcast_to(shape: [{}]) |> reshape(shape: {})",
                          node.operand(0, Binding::Atom), apart, repeated, node.shape(node.result().shape));
  made.binding = kPipe;
  return made;
}

std::optional<Expression> repeated(const NodeReader& node) {  // repeat(x, [2, 1])
  const Argument& given = node.at(1, "repeats");
  const Facts& facts = node.facts(0);
  if (given.kind != Argument::Kind::List || given.items.size() < facts.rank()) return std::nullopt;
  const std::size_t more = given.items.size() - facts.rank();
  bool isBroadcast = true;
  std::vector<Marked> counts;
  for (std::size_t d = 0; d < given.items.size(); ++d) {
    const Argument& count = given.items[d];
    const bool isOne = count.kind == Argument::Kind::Integer && count.integer == 1;
    counts.push_back(isOne ? Marked("1") : node.size(count.size, "count"));
    isBroadcast = isBroadcast && (isOne || d < more || isSingle(facts.shape[d - more]));
  }
  if (isBroadcast) return call("broadcast_to", {node.operand(0)}, {{"shape", node.shape(node.result().shape), ""}});
  return repeatedAlong(node, counts, false);
}

std::optional<Expression> interleaved(const NodeReader& node) {  // repeat_interleave(x, 2, dim)
  const Facts& facts = node.facts(0);
  if (node.isTensor(1) || !node.has(2, "dim")) return std::nullopt;
  std::vector<Marked> counts(facts.rank(), "1");
  counts[node.axis(2, "dim", 0, facts.rank())] = node.hole("count", node.integer(1, "repeats", 1));
  return repeatedAlong(node, counts, true);
}

/// The operand with `part` in the place of what lies along `axis` from `start` on.
Expression withPart(const NodeReader& node, std::size_t axis, std::int64_t start, const Marked& part, const Size& length) {
  const std::vector<Size>& whole = node.facts(0).shape;
  const std::int64_t end = start + length.number;
  const auto rest = [&](std::int64_t from, std::int64_t count) {
    std::string starts, sizes;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      starts += (d == 0 ? "" : ", ") + (d == axis ? node.hole("start", from) : Marked("0"));
      sizes += (d == 0 ? "" : ", ") + (d == axis ? node.hole("length", count) : node.size(whole[d], "size"));
    }
    return fmt::format("slice({}, start: [{}], size: [{}])", node.operand(0), starts, sizes);
  };
  std::string parts = part;
  if (start > 0) parts = rest(0, start) + ", " + parts;
  if (end < whole[axis].number) parts += ", " + rest(end, whole[axis].number - end);
  if (start == 0 && end >= whole[axis].number) {
    Expression all;
    all.text = part;
    return all;
  }
  return call("concat", {fmt::format("[{}]", parts)}, {{"axis", node.hole("axis", static_cast<std::int64_t>(axis)), "1"}});
}

/// select_scatter(x, part, dim, index), slice_scatter(x, part, dim, start, end, step).
std::optional<Expression> scattered(const NodeReader& node, bool isSelect) {
  const Facts& facts = node.facts(0);
  const std::size_t axis = node.axis(2, "dim", 0, facts.rank());
  const std::int64_t length = facts.shape[axis].number;
  std::int64_t start = node.integer(3, isSelect ? "index" : "start", 0);
  start = std::clamp(start < 0 ? start + length : start, std::int64_t{0}, length);
  if (node.integer(5, "step", 1) != 1) return std::nullopt;
  if (isSelect && !facts.shape[axis].symbolic.empty()) return std::nullopt;
  if (isSelect) {
    std::vector<Size> shape = facts.shape;
    shape[axis] = {1, ""};
    return withPart(node, axis, start, fmt::format("reshape({}, shape: {})", node.operand(1), node.shape(shape)), {1, ""});
  }
  if (node.facts(1).rank() != facts.rank()) throw UnlikeNode();
  const Size& part = node.facts(1).shape[axis];
  const bool isOpen = !facts.shape[axis].symbolic.empty() && (start > 0 || part != facts.shape[axis]);
  if (isOpen || start + part.number > length) return std::nullopt;
  return withPart(node, axis, start, node.operand(1), part);
}

/// Elements on one side of a diagonal, zeros on the other.
std::optional<Expression> triangle(const NodeReader& node, bool isLower) {
  const Facts& facts = node.facts(0);
  if (facts.rank() < 2) return std::nullopt;
  const std::int64_t diagonal = node.integer(1, "diagonal", 0);
  const Marked rows = node.size(facts.shape[facts.rank() - 2], "rows"), columns = node.size(facts.shape.back(), "columns");
  const std::string row = fmt::format("(arange({0}) |> reshape(shape: [{0}, 1])) + {1}", rows, node.hole("diagonal", diagonal));
  const std::string column = fmt::format("arange({})", columns);
  return call("where", {fmt::format("less_equal({}, {})", isLower ? column : row, isLower ? row : column), node.operand(0),
                        filledWith("0", node.result().type)});
}

}  // namespace

std::optional<Expression> indexedOf(const NodeReader& node, std::string_view word) {
  if (word == "index") return indexed(node);
  if (word == "index_select")
    return call("gather", {node.operand(0), node.operand(2)}, {{"axis", node.hole("axis", node.integer(1, "dim", 0)), "0"}});
  if (word == "gather") return takenAlong(node);
  if (word == "arange") return counted(node);
  if (word == "cumsum") return summedUp(node);
  if (word == "repeat" || word == "tile") return repeated(node);
  if (word == "repeat_interleave") return interleaved(node);
  if (word == "select_scatter" || word == "slice_scatter") return scattered(node, word == "select_scatter");
  if (word == "tril" || word == "triu") return triangle(node, word == "tril");
  return std::nullopt;
}

}  // namespace tbem::imports
