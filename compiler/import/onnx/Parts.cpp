// ONNX's operators that take parts of a tensor, find elements by their numbers, or repeat them.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

/// Sizes of the parts along the axis, as many as results.
Numbers partsOf(OnnxGraph& graph, const Size& whole) {
  const auto count = static_cast<std::int64_t>(graph.node->outputs.size());
  if (count == 0 || !whole.symbolic.empty()) throw NoForm{"it takes an axis apart whose size is open"};
  Numbers sizes;
  if (graph.has(1)) {
    sizes = graph.numbers(1);
  } else {
    const std::int64_t each = (whole.number + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp(whole.number - i * each, std::int64_t{0}, each));
  }
  std::int64_t left = whole.number;
  for (const std::int64_t size : sizes) {
    if (size < 1 || size > left) throw NoForm{"its parts do not make up the whole, or one of them is empty"};
    left -= size;
  }
  if (left != 0 || static_cast<std::int64_t>(sizes.size()) != count) throw NoForm{"its parts do not make up the whole"};
  return sizes;
}

void split(OnnxGraph& graph) {
  const std::size_t axis = graph.axis(graph.integer("axis", 0), graph.in(0).rank());
  const Numbers sizes = partsOf(graph, graph.shape(0)[axis]);
  std::vector<std::optional<Facts>> parts;
  for (const std::int64_t size : sizes) {
    Facts part = graph.in(0).facts;
    part.shape[axis] = sizeOf(size);
    parts.emplace_back(std::move(part));
  }
  const ValueId list =
      graph.addParts("split_with_sizes.default",
                     {graph.operand(0), listArgument(sizes), integerArgument(static_cast<std::int64_t>(axis))}, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (graph.node->outputs[i].empty()) continue;
    graph.give("getitem.default", {valueArgument(list), integerArgument(static_cast<std::int64_t>(i))}, *parts[i], i);
  }
}

/// From and behind the last, from the front and within the dimension, as ONNX counts them.
struct Part {
  std::int64_t start, end, step, count;
};
Part partOf(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t length) {
  if (step < 1) throw NoForm{"its step is not above 0"};
  step = std::min(step, length + 1);
  const auto within = [&](std::int64_t at) { return std::clamp(at < 0 ? at + length : at, std::int64_t{0}, length); };
  const std::int64_t from = within(start), to = std::max(within(end), from);
  return {from, to, step, (to - from + step - 1) / step};
}

/// What a slice says, one number an axis.
struct Slices {
  Numbers starts, ends, axes, steps;
};
Slices slicesOf(OnnxGraph& graph) {
  Slices slices{graph.numbers(1), graph.numbers(2), {}, {}};
  const std::size_t count = slices.starts.size();
  slices.axes.resize(count);
  slices.steps.assign(count, 1);
  std::iota(slices.axes.begin(), slices.axes.end(), 0);
  if (graph.has(3)) slices.axes = graph.numbers(3);
  if (graph.has(4)) slices.steps = graph.numbers(4);
  for (const Numbers* numbers : {&slices.ends, &slices.axes, &slices.steps}) {
    if (numbers->size() != count) throw Damaged{"its starts, ends, axes and steps are not equally many"};
  }
  return slices;
}

/// How many elements of an open dimension a part has: as many for each size, or what is left of it.
Size openCount(const Size& whole, std::int64_t start, std::int64_t end, const Part& part) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 30;  // an end that is meant to be that of the dimension
  const bool fromFront = start >= 0 && end >= 0 && end < kEnd && end <= whole.number;
  const bool fromEnd = start < 0 && start >= -whole.number && (end < 0 || end >= kEnd);
  if (fromFront || fromEnd) return sizeOf(part.count);
  return computed(part.count, fmt::format("a part from {}", start), {whole});
}

/// The axis of a slice from 0 to a size that is open: places[:length].
std::optional<std::size_t> openPrefix(OnnxGraph& graph) {
  const std::vector<Size> ends = graph.sizes(2);
  if (ends.size() != 1 || ends[0].symbolic.empty() || graph.numbers(1) != Numbers{0}) return std::nullopt;
  if (graph.has(4) && graph.numbers(4) != Numbers{1}) return std::nullopt;
  const Numbers axes = graph.has(3) ? graph.numbers(3) : Numbers{0};
  if (axes.size() != 1) throw Damaged{"its starts, ends, axes and steps are not equally many"};
  const std::size_t axis = graph.axis(axes[0], graph.in(0).rank());
  if (ends[0].number < 1 || ends[0].number > graph.shape(0)[axis].number) throw NoForm{"it ends at a size that is open"};
  return axis;
}
std::vector<Size> prefixShape(OnnxGraph& graph, std::size_t axis) {
  std::vector<Size> shape = graph.shape(0);
  shape[axis] = graph.sizes(2)[0];
  return shape;
}
std::vector<Argument> prefixArguments(OnnxGraph& graph, std::size_t axis) {
  return {graph.operand(0), integerArgument(static_cast<std::int64_t>(axis)), integerArgument(0),
          integerArgument(graph.sizes(2)[0].number), integerArgument(1)};
}

void slice(OnnxGraph& graph) {
  if (graph.in(0).isOfSizes()) {
    const Slices slices = slicesOf(graph);
    const std::vector<Size> all = graph.sizes(0);
    if (slices.starts.size() != 1) throw Damaged{"it has more than one axis"};
    const Part part = partOf(slices.starts[0], slices.ends[0], slices.steps[0], static_cast<std::int64_t>(all.size()));
    std::vector<Size> sizes;
    for (std::int64_t at = part.start; at < part.end; at += part.step) sizes.push_back(all[static_cast<std::size_t>(at)]);
    const Size length = sizeOf(static_cast<std::int64_t>(sizes.size()));
    return graph.giveSizes(std::move(sizes), {length});
  }
  const std::optional<std::size_t> prefix = openPrefix(graph);
  if (prefix) return graph.give("slice.Tensor", prefixArguments(graph, *prefix), prefixShape(graph, *prefix));
  const Slices slices = slicesOf(graph);
  Argument operand = graph.operand(0);
  Facts facts = graph.in(0).facts;
  for (std::size_t i = 0; i < slices.starts.size(); ++i) {
    const std::size_t axis = graph.axis(slices.axes[i], facts.rank());
    const Size whole = facts.shape[axis];
    const Part part = partOf(slices.starts[i], slices.ends[i], slices.steps[i], whole.number);
    if (part.count == whole.number) continue;
    if (part.count == 0) throw NoForm{"nothing is left of it"};
    const bool isOpen = !whole.symbolic.empty();
    facts.shape[axis] = isOpen ? openCount(whole, slices.starts[i], slices.ends[i], part) : sizeOf(part.count);
    const std::int64_t start = isOpen ? slices.starts[i] : part.start;
    operand = valueArgument(graph.add("slice.Tensor",
                                      {operand, integerArgument(static_cast<std::int64_t>(axis)), integerArgument(start),
                                       integerArgument(part.end), integerArgument(part.step)},
                                      facts));
  }
  OnnxTensor result;
  result.facts = facts;
  result.value = operand.value;
  graph.giveOn(std::move(result));
}

void gather(OnnxGraph& graph) {
  if (graph.in(0).isOfSizes() && graph.in(1).isOfSizes()) {
    const std::vector<Size> all = graph.sizes(0);
    std::vector<Size> sizes;
    for (const std::int64_t at : graph.numbers(1)) sizes.push_back(all[graph.axis(at, all.size())]);
    return graph.giveSizes(std::move(sizes), graph.shape(1));
  }
  const std::size_t axis = graph.axis(graph.integer("axis", 0), graph.in(0).rank());
  const std::vector<Size> before = graph.shape(0), indices = graph.shape(1);
  const auto at = static_cast<std::ptrdiff_t>(axis);
  std::vector<Size> shape(before.begin(), before.begin() + at);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), before.begin() + at + 1, before.end());
  const auto along = integerArgument(static_cast<std::int64_t>(axis));
  if (indices.empty()) {
    if (!graph.in(1).isOfSizes()) throw NoForm{"its index is a single number that is computed"};
    const std::int64_t number = graph.numbers(1)[0];
    graph.axis(number, static_cast<std::size_t>(before[axis].number));
    return graph.give("select.int", {graph.operand(0), along, integerArgument(number)}, std::move(shape));
  }
  if (graph.in(1).isOfSizes()) {
    for (const std::int64_t number : graph.numbers(1)) {
      if (number < 0 || number >= before[axis].number) throw NoForm{"an index of it counts from the end"};
    }
  }
  if (axis == 0 && before.size() == 2 && graph.in(0).isWeight && graph.isReal(0))
    return graph.give("embedding.default", {graph.operand(0, "weight"), graph.operand(1)}, std::move(shape));
  Argument list;
  list.kind = Argument::Kind::List;
  list.items.resize(axis);
  list.items.push_back(graph.operand(1));
  graph.give("index.Tensor", {graph.operand(0), std::move(list)}, std::move(shape));
}

void gatherAlong(OnnxGraph& graph) {
  const std::size_t axis = graph.axis(graph.integer("axis", 0), graph.in(0).rank());
  if (graph.in(1).rank() != graph.in(0).rank()) throw Damaged{"its indices are of another rank"};
  graph.give("gather.default", {graph.operand(0), integerArgument(static_cast<std::int64_t>(axis)), graph.operand(1)},
             graph.shape(1));
}

/// One side of a diagonal.
void triangle(OnnxGraph& graph) {
  const Numbers given = graph.has(1) ? graph.numbers(1) : Numbers{0};
  if (given.size() != 1) throw Damaged{"its diagonal is no number"};
  constexpr std::int64_t kBeyond = std::int64_t{1} << 49;  // of all sizes: what lies behind is on one side
  const std::int64_t diagonal = std::clamp(given[0], -kBeyond, kBeyond);
  graph.give(graph.integer("upper", 1) != 0 ? "triu.default" : "tril.default", {graph.operand(0), integerArgument(diagonal)},
             graph.shape(0));
}

void tile(OnnxGraph& graph) {
  const Numbers counts = graph.numbers(1);
  std::vector<Size> shape = graph.shape(0);
  if (counts.size() != shape.size()) throw Damaged{"its counts are not one for each dimension"};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (counts[d] < 1) throw NoForm{"nothing is left of it"};
    shape[d] = product(shape[d], sizeOf(counts[d]));
  }
  graph.give("repeat.default", {graph.operand(0), listArgument(counts)}, std::move(shape));
}

void cumulativeSum(OnnxGraph& graph) {
  if (graph.integer("exclusive", 0) != 0 || graph.integer("reverse", 0) != 0) throw NoForm{"it is exclusive, or from the end"};
  const Numbers axes = graph.numbers(1);
  if (axes.size() != 1) throw Damaged{"its axis is no number"};
  const std::size_t axis = graph.axis(axes[0], graph.in(0).rank());
  graph.give("cumsum.default", {graph.operand(0), integerArgument(static_cast<std::int64_t>(axis))}, graph.shape(0));
}

}  // namespace

const OnnxOperators& onnxParts() {
  static const OnnxOperators kOperators = {
      {"Split", split},    {"Slice", slice}, {"Gather", gather},       {"GatherElements", gatherAlong},
      {"Trilu", triangle}, {"Tile", tile},   {"CumSum", cumulativeSum}};
  return kOperators;
}

}  // namespace tbem::imports
