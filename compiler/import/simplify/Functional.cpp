// Writes into parts of tensors as new tensors, and results of operators that have several as operators of their own.
#include "compiler/import/Expression.h"
#include "compiler/import/ModuleCalls.h"
#include "compiler/import/simplify/Simplify.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tbem::imports {

namespace {

bool reads(const Value& value, std::size_t position) {
  return position < value.arguments.size() && value.arguments[position].kind == Argument::Kind::Value;
}

/// The node's number at the position.
std::int64_t integerAt(const Value& node, std::size_t position, std::int64_t otherwise) {
  if (position >= node.arguments.size() || node.arguments[position].isNone()) return otherwise;
  const Argument& argument = node.arguments[position];
  return argument.kind == Argument::Kind::Size ? argument.size.number : argument.integer;
}

class Rewriter {
public:
  explicit Rewriter(Exported given)
      : exported(std::move(given)), by(exported.values.size()), lastRead(exported.values.size(), 0) {
    for (std::size_t at = 0; at < exported.values.size(); ++at) {
      for (const ValueId operand : operandsOf(exported.values[at])) lastRead[index(operand)] = at;
    }
    for (const Output& output : exported.outputs) lastRead[index(output.value)] = exported.values.size();
  }

  Exported functional() {
    for (std::size_t at = 0; at < exported.values.size(); ++at) {
      Value value = exported.values[at];
      for (Argument& argument : value.arguments) replace(argument, by);
      for (auto& [name, argument] : value.named) replace(argument, by);
      const bool writes = writesInPlace(value) && reads(exported.values[at], 0);
      if (writes && hasNoElements(value)) {  // as `mask[0:-8] = 1` where it has 8 rows
        by[at] = value.arguments.front().value;
        continue;
      }
      if (writes && !canBeNew(at)) value.op.insert(0, "in-place ");
      const bool isNew = writes && !value.op.starts_with("in-place ");
      by[at] = add(std::move(value));
      if (isNew) putBack(at);
    }
    for (Output& output : exported.outputs) output.value = by[index(output.value)];
    for (ValueId& input : exported.inputs) input = by[index(input)];
    exported.values = std::move(values);
    return std::move(exported);
  }

private:
  ValueId add(Value value) {
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
  }

  static bool hasNoElements(const Value& value) {
    return std::ranges::any_of(value.facts.shape, [](const Size& size) { return size.symbolic.empty() && size.number == 0; });
  }

  /// What the node's operand lies in, each inside of the next; the last is no view.
  std::vector<ValueId> placesOf(std::size_t at) const {
    std::vector<ValueId> places = {exported.values[at].arguments.front().value};
    while (isView(exported[places.back()]) && reads(exported[places.back()], 0))
      places.push_back(exported[places.back()].arguments.front().value);
    return places;
  }

  /// Whether nothing is read later that sees the write by another way than the tensors that the operand lies in.
  bool canBeNew(std::size_t at) const {
    const std::vector<ValueId> places = placesOf(at);
    const bool isReadLater =
        std::any_of(places.begin() + 1, places.end(), [&](ValueId place) { return lastRead[index(place)] > at; });
    const Value::Kind kind = exported[places.back()].kind;
    if (isReadLater && kind != Value::Kind::Node && kind != Value::Kind::Constant) return false;
    const auto isOneWay = [&](ValueId place) { return !hasInverse(exported[place]); };
    if (isReadLater && std::any_of(places.begin(), places.end() - 1, isOneWay)) return false;
    for (std::size_t other = 0; other < at; ++other) {
      const auto id = static_cast<ValueId>(other);
      const bool isPlace = std::find(places.begin(), places.end(), id) != places.end();
      if (isPlace || lastRead[other] <= at || !isView(exported[id]) || !reads(exported[id], 0)) continue;
      for (ValueId in = id; isView(exported[in]) && reads(exported[in], 0);) {
        const ValueId below = std::exchange(in, exported[in].arguments.front().value);
        const auto place = std::find(places.begin(), places.end(), in);
        if (place == places.end()) continue;
        if (place == places.begin() || !areApart(exported[below], exported[*(place - 1)])) return false;
        break;
      }
    }
    return true;
  }

  /// Two parts of one list, which have no element in common.
  static bool areApart(const Value& one, const Value& other) {
    return wordOf(one) == "getitem" && wordOf(other) == "getitem" && integerAt(one, 1, 0) != integerAt(other, 1, 0);
  }

  static bool isReshape(const std::string& word) {
    static const std::set<std::string> kReshapes = {"view",    "reshape",   "flatten",     "unflatten",
                                                    "squeeze", "unsqueeze", "_unsafe_view"};
    return kReshapes.contains(word);
  }

  static bool isSplit(const std::string& word) {
    static const std::set<std::string> kSplits = {"split", "split_with_sizes", "tensor_split", "chunk", "unbind"};
    return kSplits.contains(word);
  }

  /// Whether a tensor with another part in the place of the view can be made.
  bool hasInverse(const Value& view) const {
    const std::string word = wordOf(view);
    if (word == "getitem") return startOf(view).has_value();
    if (word == "slice") return integerAt(view, 4, 1) == 1;
    if (word == "permute") return inverseOf(view).has_value();
    if (word == "reshape" || word == "flatten") {  // of a view that is not as it lies in memory they are copies
      const Value& operand = exported[view.arguments.front().value];
      const std::string below = wordOf(operand);
      if (isView(operand) && below != "view" && below != "squeeze" && below != "unsqueeze") return false;
    }
    return isReshape(word) || isSplit(word) || word == "select" || word == "transpose" || word == "alias" || word == "detach";
  }

  /// Where the part that a getitem takes of a list begins along the axis that was parted.
  std::optional<std::int64_t> startOf(const Value& getitem) const {
    const Value& list = exported[getitem.arguments.front().value];
    const std::string word = wordOf(list);
    if (!reads(list, 0) || !isSplit(word)) return std::nullopt;
    const auto count = static_cast<std::int64_t>(list.parts.size());
    const auto rank = static_cast<std::int64_t>(exported[list.arguments.front().value].facts.rank());
    std::int64_t number = integerAt(getitem, 1, 0), axis = axisOf(list);
    number += number < 0 ? count : 0;
    axis += axis < 0 ? rank : 0;
    if (number < 0 || number >= count || axis < 0 || axis >= rank) return std::nullopt;
    if (word == "unbind") return number;
    std::int64_t start = 0;
    for (std::int64_t k = 0; k < number; ++k) {
      const std::optional<Facts>& before = list.parts[static_cast<std::size_t>(k)];
      if (!before || static_cast<std::int64_t>(before->rank()) != rank) return std::nullopt;
      start += before->shape[static_cast<std::size_t>(axis)].number;
    }
    return start;
  }
  static std::int64_t axisOf(const Value& list) { return integerAt(list, wordOf(list) == "unbind" ? 1 : 2, 0); }

  /// The order of axes that undoes a permute's.
  static std::optional<Argument> inverseOf(const Value& permute) {
    if (permute.arguments.size() < 2) return std::nullopt;
    const std::vector<Argument>& forth = permute.arguments[1].items;
    const auto rank = static_cast<std::int64_t>(forth.size());
    Argument order;
    order.kind = Argument::Kind::List;
    order.items.resize(forth.size());
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t axis = forth[static_cast<std::size_t>(d)].integer;
      if (axis < -rank || axis >= rank) return std::nullopt;
      order.items[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = integerArgument(d);
    }
    return order;
  }

  /// After a write: what the written tensor lies in, with its new elements.
  void putBack(std::size_t at) {
    const std::vector<ValueId> places = placesOf(at);
    ValueId part = by[at];
    by[index(places.front())] = part;
    for (std::size_t p = 0; p + 1 < places.size(); ++p) {
      const Value& view = exported[places[p]];
      if (wordOf(view) == "getitem") {  // of a list of parts, which lies in what was parted
        part = withPart(at, view, places[p + 2], part);
        by[index(places[p + 2])] = part;
        ++p;
      } else {
        part = whole(at, view, places[p + 1], part);
        by[index(places[p + 1])] = part;
      }
    }
  }

  Value made(std::size_t at, const char* op, ValueId base, std::vector<Argument> arguments) const {
    Value value;
    value.op = op;
    value.name = exported.values[at].name;
    value.facts = exported[base].facts;
    value.modules = exported.values[at].modules;
    value.place = exported.values[at].place;
    value.arguments = std::move(arguments);
    return value;
  }

  /// `base` with `part` in the place of its view.
  ValueId whole(std::size_t at, const Value& view, ValueId base, ValueId part) {
    const std::string word = wordOf(view);
    const Argument own = valueArgument(part), in = valueArgument(by[index(base)]);
    const auto number = [&](std::size_t position, std::int64_t otherwise) {
      return integerArgument(integerAt(view, position, otherwise));
    };
    if (word == "select") return add(made(at, "aten.select_scatter.default", base, {in, own, number(1, 0), number(2, 0)}));
    if (word == "slice") return add(made(at, "aten.slice_scatter.default", base, {in, own, number(1, 0), number(2, 0)}));
    if (word == "transpose") return add(made(at, "aten.transpose.int", base, {own, number(1, 0), number(2, 1)}));
    if (word == "permute") return add(made(at, "aten.permute.default", base, {own, *inverseOf(view)}));
    return add(made(at, "aten.reshape.default", base, {own}));
  }

  /// `base` with `part` in the place of the one that a getitem takes of the list of its parts.
  ValueId withPart(std::size_t at, const Value& getitem, ValueId base, ValueId part) {
    const Value& list = exported[getitem.arguments.front().value];
    const char* const op = wordOf(list) == "unbind" ? "aten.select_scatter.default" : "aten.slice_scatter.default";
    return add(made(at, op, base,
                    {valueArgument(by[index(base)]), valueArgument(part), integerArgument(axisOf(list)),
                     integerArgument(*startOf(getitem))}));
  }

  Exported exported;
  std::vector<ValueId> by;  ///< by value before: what has its elements now
  std::vector<std::size_t> lastRead;
  std::vector<Value> values;
};

}  // namespace

/// Whether the node's result lies in its first operand's memory, or may.
bool isView(const Value& node) {
  static const std::set<std::string> kViews = {
      "select",       "slice",      "view",      "transpose", "swapaxes", "permute",  "t",
      "split",        "unbind",     "chunk",     "expand",    "squeeze",  "alias",    "unsqueeze",
      "narrow",       "unflatten",  "getitem",   "reshape",   "flatten",  "detach",   "split_with_sizes",
      "tensor_split", "contiguous", "expand_as", "swapdims",  "movedim",  "diagonal", "unfold",
      "as_strided"};
  return node.kind == Value::Kind::Node && kViews.contains(wordOf(node));
}

bool writesInPlace(const Value& node) {
  const std::string name = node.op.substr(0, node.op.find('.', node.op.find('.') + 1));
  return node.kind == Value::Kind::Node && name.ends_with('_') && !name.ends_with("__");
}

void replace(Argument& argument, const std::vector<ValueId>& by) {
  if (argument.kind == Argument::Kind::Value) argument.value = by[index(argument.value)];
  for (Argument& item : argument.items) replace(item, by);
}

Exported withoutPartialWrites(Exported exported) { return Rewriter(std::move(exported)).functional(); }

/// max(x, dim)[0] is amax(x, dim), and its [1] argmax.
void takeResultsApart(Exported& exported) {
  static const std::map<std::string, std::pair<const char*, const char*>> kTwo = {
      {"max", {"aten.amax.default", "aten.argmax.default"}},
      {"min", {"aten.amin.default", "aten.argmin.default"}},
      {"var_mean", {"aten.var", "aten.mean.dim"}},
      {"std_mean", {"aten.std", "aten.mean.dim"}},
      {"adaptive_max_pool2d", {"aten.adaptive_max_pool2d.default", "of places"}},
      {"max_pool2d_with_indices", {"aten.max_pool2d.default", "of places"}}};
  for (Value& value : exported.values) {
    if (value.op == "aten.min.other") value.op = "aten.minimum.default";  // of two tensors, and of no axis
    if (value.op == "aten.max.other") value.op = "aten.maximum.default";
    if (value.kind != Value::Kind::Node || wordOf(value) != "getitem" || !reads(value, 0)) continue;
    const Value& several = exported[value.arguments[0].value];
    const auto two = kTwo.find(wordOf(several));
    if (several.kind != Value::Kind::Node || two == kTwo.end() || several.parts.size() != 2) continue;
    const bool isFirst = integerAt(value, 1, 0) == 0, isOfAll = several.op.ends_with("_mean.default");
    value.op = isFirst ? two->second.first : isOfAll ? "aten.mean.default" : two->second.second;
    // var_mean.dim is var.dim: each form of it has its own arguments.
    if (isFirst && wordOf(several).ends_with("_mean")) value.op += several.op.substr(several.op.rfind('.'));
    value.arguments = several.arguments;
    if (!isFirst && isOfAll) value.arguments.resize(1);
    value.named = several.named;
  }
}

}  // namespace tbem::imports
