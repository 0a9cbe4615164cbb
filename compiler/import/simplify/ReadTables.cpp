// Nodes whose results are tables: ranges of numbers, what compares, combines and moves them.
#include "compiler/import/Expression.h"
#include "compiler/import/simplify/Simplify.h"
#include "compiler/import/simplify/Tables.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

namespace tbem::imports {

namespace {

using Numbers = std::span<const double>;

std::int64_t productOf(const std::vector<Size>& shape) {
  std::int64_t count = 1;
  for (const Size& size : shape) count *= size.number;
  return count;
}

std::optional<Table> tableOfConstant(const Value& constant) {
  const Pattern& pattern = constant.pattern;
  const std::size_t rank = constant.facts.rank();
  switch (pattern.kind) {
    case Pattern::Kind::Fill:
      return Ramp{pattern.start, {}};
    case Pattern::Kind::Line: {
      if (pattern.axis < 0 || static_cast<std::size_t>(pattern.axis) >= rank) return std::nullopt;
      const Ramp line{pattern.start, {{rank - 1 - static_cast<std::size_t>(pattern.axis), pattern.step}}};
      return pattern.step == 0 ? Ramp{pattern.start, {}} : line;
    }
    case Pattern::Kind::Lower:
    case Pattern::Kind::Upper: {
      Band band;
      if (rank < 2) return std::nullopt;
      (pattern.kind == Pattern::Kind::Lower ? band.high : band.low) = pattern.axis;
      return band;
    }
    case Pattern::Kind::None:
    case Pattern::Kind::Grid:
      break;
  }
  const bool isWhole = static_cast<std::int64_t>(constant.elements.size()) == productOf(constant.facts.shape);
  return isWhole ? bandOf(constant.elements, constant.facts.shape) : std::nullopt;
}

/// One class: reads one node by what its operands are, each kind of operator in a function of a few lines.
class TableReader {
public:
  TableReader(const Exported& exported, const Value& node, const std::vector<std::optional<Table>>& tables)
      : exported(exported), node(node), tables(tables), word(wordOf(node)) {}

  std::optional<Table> table() const {
    if (const std::optional<ValueId> same = givenOn(exported, node)) return tables[index(*same)];
    for (const auto read : {&TableReader::filled, &TableReader::range, &TableReader::compared, &TableReader::combined,
                            &TableReader::typed, &TableReader::reshaped, &TableReader::part}) {
      if (std::optional<Table> found = (this->*read)()) return found;
    }
    return std::nullopt;
  }

private:
  const Argument& at(std::size_t position, const char* name = "") const {
    static const Argument kNone;
    if (position < node.arguments.size()) return node.arguments[position];
    const auto named = node.named.find(name);
    return named == node.named.end() ? kNone : named->second;
  }
  const Facts* factsAt(std::size_t position) const {
    const Argument& argument = at(position);
    return argument.kind == Argument::Kind::Value ? &exported[argument.value].facts : nullptr;
  }
  /// Of a number, and of a tensor that is a table.
  std::optional<Table> operand(std::size_t position, const char* name = "") const {
    const Argument& argument = at(position, name);
    if (argument.kind == Argument::Kind::Value) return tables[index(argument.value)];
    if (argument.isNumber()) return Ramp{argument.real, {}};
    if (argument.kind == Argument::Kind::Size && argument.size.symbolic.empty())
      return Ramp{static_cast<double>(argument.size.number), {}};
    return std::nullopt;
  }
  std::optional<double> number(std::size_t position, const char* name, double otherwise) const {
    if (at(position, name).isNone()) return otherwise;
    const std::optional<Table> given = operand(position, name);
    return given ? evenNumber(*given) : std::nullopt;
  }
  /// An axis of a tensor of so many, counted from the last.
  static std::optional<std::size_t> fromLast(const Argument& axis, std::size_t rank) {
    const auto count = static_cast<std::int64_t>(rank);
    if (axis.kind != Argument::Kind::Integer || axis.integer < -count || axis.integer >= count) return std::nullopt;
    return static_cast<std::size_t>(axis.integer < 0 ? -axis.integer - 1 : count - 1 - axis.integer);
  }

  // ---- Made of nothing ----
  std::optional<Table> filled() const {
    static const std::set<std::string_view> kZeros = {"zeros", "new_zeros", "zeros_like"},
                                            kOnes = {"ones", "new_ones", "ones_like"};
    if (kZeros.contains(word)) return Ramp{0, {}};
    if (kOnes.contains(word)) return Ramp{1, {}};
    // Where the number is.
    static const std::map<std::string_view, std::size_t> kPlaces = {
        {"scalar_tensor", 0}, {"full", 1}, {"full_like", 1}, {"new_full", 2}};
    const auto place = kPlaces.find(word);
    if (place == kPlaces.end()) return std::nullopt;
    const std::optional<Table> value = operand(place->second, "fill_value");
    return value && evenNumber(*value) ? value : std::nullopt;
  }

  std::optional<Table> range() const {
    if (word != "arange") return std::nullopt;
    const bool hasStart = node.arguments.size() > 1;
    const std::optional<double> start = hasStart ? number(0, "", 0) : 0.0, step = number(2, "step", 1);
    if (!start || !step) return std::nullopt;
    return *step == 0 ? Ramp{*start, {}} : Ramp{*start, {{0, *step}}};
  }

  // ---- Element by element ----
  std::optional<Table> compared() const {
    static const std::map<std::string_view, std::string_view> kOthers = {
        {"less", "lt"}, {"less_equal", "le"}, {"greater", "gt"}, {"greater_equal", "ge"}, {"not_equal", "ne"}};
    const auto other = kOthers.find(word);
    const std::string_view how = other == kOthers.end() ? std::string_view(word) : other->second;
    static const std::set<std::string_view> kWords = {"lt", "le", "gt", "ge", "eq", "ne"};
    if (!kWords.contains(how)) return std::nullopt;
    const std::optional<Table> left = operand(0), right = operand(1, "other");
    if (!left || !right) return std::nullopt;
    const bool isOfRamps = std::holds_alternative<Ramp>(*left) && std::holds_alternative<Ramp>(*right);
    const bool isAbove = how == "gt" || how == "ge", isStrict = how == "lt" || how == "gt";
    if (isOfRamps && (isStrict || how == "le" || how == "ge")) {
      const std::optional<Table> difference = isAbove ? weightedSum(*right, -1, *left) : weightedSum(*left, -1, *right);
      return difference ? atMostZero(std::get<Ramp>(*difference), isStrict, node.facts.shape) : std::nullopt;
    }
    return overlaid({*left, *right}, [how](Numbers each) {
      const double one = each[0], two = each[1];
      const bool holds = how == "lt"   ? one < two
                         : how == "le" ? one <= two
                         : how == "gt" ? one > two
                         : how == "ge" ? one >= two
                         : how == "eq" ? one == two
                                       : one != two;
      return holds ? 1.0 : 0.0;
    });
  }

  std::optional<Table> combined() const {
    const bool isOfBool = node.facts.type == "bool";
    if (word == "logical_not" || (word == "bitwise_not" && isOfBool))
      return over({0}, [](Numbers each) { return each[0] == 0 ? 1.0 : 0.0; });
    if (word == "logical_and" || (isOfBool && (word == "bitwise_and" || word == "__and__" || word == "mul")))
      return over({0, 1}, [](Numbers each) { return each[0] != 0 && each[1] != 0 ? 1.0 : 0.0; });
    if (word == "logical_or" || (isOfBool && (word == "bitwise_or" || word == "__or__")))
      return over({0, 1}, [](Numbers each) { return each[0] != 0 || each[1] != 0 ? 1.0 : 0.0; });
    if (word == "where") return over({0, 1, 2}, [](Numbers each) { return each[0] != 0 ? each[1] : each[2]; });
    if (word == "masked_fill") return over({1, 2, 0}, [](Numbers each) { return each[0] != 0 ? each[1] : each[2]; });
    if (word == "tril" || word == "triu") return triangle();
    return isOfBool ? std::nullopt : computed();
  }

  std::optional<Table> computed() const {
    const std::optional<Table> left = operand(0), right = operand(1, "other"), zero = Ramp{0, {}};
    const std::optional<double> alpha = number(2, "alpha", 1);
    if (!left || !alpha) return std::nullopt;
    if (word == "neg") return weightedSum(*zero, -1, *left);
    if (!right) return std::nullopt;
    if (word == "add") return weightedSum(*left, *alpha, *right);
    if (word == "sub") return weightedSum(*left, -*alpha, *right);
    if (word == "rsub") return weightedSum(*right, -*alpha, *left);
    if (word != "mul") return std::nullopt;
    if (const std::optional<double> factor = evenNumber(*right); factor && std::isfinite(*factor))
      return weightedSum(*zero, *factor, *left);
    if (const std::optional<double> factor = evenNumber(*left); factor && std::isfinite(*factor))
      return weightedSum(*zero, *factor, *right);
    return over({0, 1}, [](Numbers each) { return each[0] * each[1]; });
  }

  std::optional<Table> over(const std::vector<std::size_t>& positions, const std::function<double(Numbers)>& function) const {
    std::vector<Table> operands;
    for (const std::size_t position : positions) {
      const std::optional<Table> one = operand(position);
      if (!one) return std::nullopt;
      operands.push_back(*one);
    }
    return overlaid(operands, function);
  }

  /// The elements up to, or from, a diagonal; zeros elsewhere.
  std::optional<Table> triangle() const {
    const std::optional<Table> given = operand(0);
    const Argument& diagonal = at(1, "diagonal");
    if (!given || !(diagonal.isNone() || diagonal.kind == Argument::Kind::Integer)) return std::nullopt;
    Band band;
    (word == "tril" ? band.high : band.low) = diagonal.integer;
    return overlaid({*given, band}, [](Numbers each) { return each[1] != 0 ? each[0] : 0; });
  }

  /// As elements of another type, where each has its number there.
  std::optional<Table> typed() const {
    static const std::set<std::string_view> kWords = {"to",   "_to_copy", "type_as", "float", "double",
                                                      "half", "bfloat16", "bool",    "long",  "int"};
    const std::optional<Table> given = operand(0);
    if (!kWords.contains(word) || !given || factsAt(0) == nullptr || factsAt(0)->shape != node.facts.shape) return std::nullopt;
    if (node.facts.type == "bool") return overlaid({*given}, [](Numbers each) { return each[0] != 0 ? 1.0 : 0.0; });
    const bool keeps = isReal(node.facts) || !isReal(*factsAt(0));
    return keeps ? given : std::nullopt;
  }

  // ---- Moved ----
  std::optional<Table> reshaped() const {
    static const std::set<std::string_view> kWords = {"view",    "reshape", "_unsafe_view", "unsqueeze",
                                                      "squeeze", "flatten", "unflatten"};
    const std::optional<Table> given = operand(0);
    const Facts* const before = factsAt(0);
    if (!given || before == nullptr || at(1).kind == Argument::Kind::Type) return std::nullopt;  // `view` of the same bits
    const std::size_t rank = before->rank();
    if (word == "expand" || word == "expand_as") return given;
    if (kWords.contains(word)) return moved(*given, [&](std::size_t axis) { return axisBehind(*before, axis); });
    if (word == "transpose" || word == "swapaxes" || word == "swapdims") {
      const std::optional<std::size_t> one = fromLast(at(1), rank), other = fromLast(at(2), rank);
      if (!one || !other) return std::nullopt;
      return moved(*given, [&](std::size_t axis) { return std::optional(axis == *one ? *other : axis == *other ? *one : axis); });
    }
    if (word == "t" && rank == 2) return moved(*given, [](std::size_t axis) { return std::optional(1 - axis); });
    if (word == "permute") return moved(*given, [&](std::size_t axis) { return axisPermuted(rank, axis); });
    return std::nullopt;
  }

  /// Where an axis is after a reshape that leaves it and all behind it as they are, but for axes of length 1.
  std::optional<std::size_t> axisBehind(const Facts& before, std::size_t axis) const {
    const auto lengthsOf = [](const Facts& facts) {
      std::vector<std::size_t> axes;  // from the last, without those of length 1
      for (std::size_t k = 0; k < facts.rank(); ++k) {
        if (facts.shape[facts.rank() - 1 - k] != Size{1, ""}) axes.push_back(k);
      }
      return axes;
    };
    const std::vector<std::size_t> left = lengthsOf(before), right = lengthsOf(node.facts);
    for (std::size_t k = 0; k < std::min(left.size(), right.size()); ++k) {
      const Size& length = before.shape[before.rank() - 1 - left[k]];
      if (length != node.facts.shape[node.facts.rank() - 1 - right[k]]) return std::nullopt;
      if (left[k] == axis) return right[k];
    }
    return std::nullopt;
  }

  std::optional<std::size_t> axisPermuted(std::size_t rank, std::size_t axis) const {
    const std::vector<Argument>& order = at(1).items;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (fromLast(order[k], rank) == axis) return order.size() - 1 - k;
    }
    return std::nullopt;
  }

  std::optional<Table> part() const {
    const std::optional<Table> given = operand(0);
    if (word != "slice" || !given || factsAt(0) == nullptr) return std::nullopt;
    const Facts& before = *factsAt(0);
    const Argument none = integerArgument(0);
    const std::optional<std::size_t> axis = fromLast(at(1, "dim").isNone() ? none : at(1, "dim"), before.rank());
    const std::optional<double> start = number(2, "start", 0), step = number(4, "step", 1);
    if (!axis || !start || step != 1.0) return std::nullopt;
    const Size& length = before.shape[before.rank() - 1 - *axis];
    auto from = static_cast<std::int64_t>(*start);
    if (from < 0) {
      if (!length.symbolic.empty()) return std::nullopt;
      from = std::max(from + length.number, std::int64_t{0});
    }
    return shifted(*given, *axis, from);
  }

  const Exported& exported;
  const Value& node;
  const std::vector<std::optional<Table>>& tables;
  std::string word;
};

/// An axis of length 1 has the index 0 alone, however often broadcasting repeats it.
std::optional<Table> withoutSingleAxes(const std::optional<Table>& table, const Facts& facts) {
  if (!table) return std::nullopt;
  const auto isSingle = [&](std::size_t axis) {
    return axis >= facts.rank() || facts.shape[facts.rank() - 1 - axis] == Size{1, ""};
  };
  if (const Band* const band = std::get_if<Band>(&*table)) {
    return isSingle(band->row) || isSingle(band->column) ? std::nullopt : table;
  }
  Ramp ramp = std::get<Ramp>(*table);
  std::erase_if(ramp.steps, [&](const auto& step) { return isSingle(step.first); });
  return ramp;
}

/// What is written into by a node that makes no new tensor, and what that lies in.
std::vector<bool> writtenInto(const Exported& exported) {
  std::vector<bool> written(exported.values.size());
  for (const Value& value : exported.values) {
    if (!value.op.starts_with("in-place ")) continue;
    const Value* node = &value;
    while (!node->arguments.empty() && node->arguments.front().kind == Argument::Kind::Value) {
      const ValueId into = node->arguments.front().value;
      written[index(into)] = true;
      node = &exported[into];
      if (!isView(*node)) break;
    }
  }
  return written;
}

}  // namespace

std::vector<std::optional<Table>> tablesOf(const Exported& exported) {
  std::vector<std::optional<Table>> tables(exported.values.size());
  const std::vector<bool> written = writtenInto(exported);
  for (std::size_t at = 0; at < tables.size(); ++at) {
    const Value& value = exported.values[at];
    const bool isNode = value.kind == Value::Kind::Node;
    if (written[at] || (!isNode && value.kind != Value::Kind::Constant)) continue;
    tables[at] = withoutSingleAxes(isNode ? TableReader(exported, value, tables).table() : tableOfConstant(value), value.facts);
  }
  return tables;
}

}  // namespace tbem::imports
