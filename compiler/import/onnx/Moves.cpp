// ONNX's operators that move all elements.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kMostRank = 32;

void reshapeTo(OnnxGraph& graph, std::vector<Size> shape) {
  if (graph.in(0).isOfSizes() && shape.size() < 2) return graph.giveSizes(graph.sizes(0), std::move(shape));
  if (productOf(shape).number != productOf(graph.shape(0)).number) throw Damaged{"its shapes do not fit"};
  graph.give("view.default", {graph.operand(0)}, std::move(shape));
}

void reshape(OnnxGraph& graph) {
  const std::vector<Size> before = graph.shape(0);
  std::vector<Size> shape = graph.sizes(1);
  const bool keepsZeros = graph.integer("allowzero", 0) != 0;
  std::optional<std::size_t> open;
  Size others = sizeOf(1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].number == 0 && !keepsZeros) {
      if (d >= before.size()) throw Damaged{"its shape keeps a dimension that is not there"};
      shape[d] = before[d];
    }
    if (shape[d].number < -1) throw Damaged{"its shape has a number below -1"};
    if (shape[d].number == -1) {
      if (open) throw Damaged{"its shape has -1 twice"};
      open = d;
    } else {
      others = product(others, shape[d]);
    }
  }
  if (open) {
    const std::optional<Size> rest = quotient(productOf(before), others);
    if (!rest) throw Damaged{"its shape does not fit"};
    shape[*open] = *rest;
  }
  reshapeTo(graph, std::move(shape));
}

void flatten(OnnxGraph& graph) {
  const std::vector<Size>& before = graph.shape(0);
  const auto rank = static_cast<std::int64_t>(before.size());
  const std::int64_t given = graph.integer("axis", 1);
  if (given < -rank || given > rank) throw Damaged{fmt::format("it has no axis {}", given)};
  const auto axis = static_cast<std::ptrdiff_t>(given < 0 ? given + rank : given);
  reshapeTo(graph, {productOf({before.begin(), before.begin() + axis}), productOf({before.begin() + axis, before.end()})});
}

void squeeze(OnnxGraph& graph) {
  const std::vector<Size> before = graph.shape(0);
  std::set<std::size_t> axes;
  if (graph.has(1)) {
    for (const std::int64_t axis : graph.numbers(1)) axes.insert(graph.axis(axis, before.size()));
  }
  std::vector<Size> shape;
  for (std::size_t d = 0; d < before.size(); ++d) {
    const bool goes = graph.has(1) ? axes.contains(d) : before[d].number == 1;
    if (goes && before[d].number != 1) throw Damaged{fmt::format("its axis {} has {} elements", d, before[d].number)};
    if (goes && !graph.has(1) && !before[d].symbolic.empty())
      throw NoForm{"whether it keeps an axis depends on a size that is open"};
    if (!goes) shape.push_back(before[d]);
  }
  reshapeTo(graph, std::move(shape));
}

void unsqueeze(OnnxGraph& graph) {
  const Numbers given = graph.numbers(1);
  std::vector<Size> shape = graph.shape(0);
  const std::size_t rank = shape.size() + given.size();
  if (rank > kMostRank) throw NoForm{fmt::format("its result has {} dimensions", rank)};
  std::set<std::size_t> axes;
  for (const std::int64_t axis : given) axes.insert(graph.axis(axis, rank));
  if (axes.size() != given.size()) throw Damaged{"it has an axis twice"};
  for (const std::size_t axis : axes) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), sizeOf(1));
  reshapeTo(graph, std::move(shape));
}

void transpose(OnnxGraph& graph) {
  const std::vector<Size> before = graph.shape(0);
  Numbers order = graph.integers("perm");
  if (order.empty()) {
    for (std::size_t d = before.size(); d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
  }
  std::set<std::size_t> seen;
  std::vector<Size> shape;
  for (const std::int64_t axis : order) {
    seen.insert(graph.axis(axis, before.size()));
    shape.push_back(before[graph.axis(axis, before.size())]);
  }
  if (seen.size() != before.size() || order.size() != before.size()) throw Damaged{"its order is none"};
  // The last two change places: a transposition, which products take as it is.
  Numbers swapped(before.size());
  std::iota(swapped.begin(), swapped.end(), 0);
  if (swapped.size() > 1) std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  if (swapped == order)
    graph.give("transpose.int", {graph.operand(0), integerArgument(-2), integerArgument(-1)}, std::move(shape));
  else
    graph.give("permute.default", {graph.operand(0), listArgument(order)}, std::move(shape));
}

void concat(OnnxGraph& graph) {
  const std::size_t count = graph.node->inputs.size();
  bool areSizes = true;
  for (std::size_t i = 0; i < count; ++i) areSizes = areSizes && graph.in(i).isOfSizes();
  if (areSizes) {
    std::vector<Size> sizes;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<Size> more = graph.sizes(i);
      sizes.insert(sizes.end(), more.begin(), more.end());
    }
    const Size length = sizeOf(static_cast<std::int64_t>(sizes.size()));
    return graph.giveSizes(std::move(sizes), {length});
  }
  const std::size_t axis = graph.axis(graph.integer("axis", 0), graph.in(0).rank());
  Argument list;
  list.kind = Argument::Kind::List;
  std::vector<Size> shape = graph.shape(0), parts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<Size>& other = graph.shape(i);
    if (other.size() != shape.size()) throw Damaged{"its operands are of different ranks"};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (d != axis && other[d].number != shape[d].number) throw Damaged{"its operands do not fit"};
    }
    parts.push_back(graph.shape(i)[axis]);
    list.items.push_back(graph.operand(i));
  }
  std::int64_t sum = 0;
  for (const Size& part : parts) sum = checkedSize(__int128{sum} + part.number);
  shape[axis] = computed(sum, "a sum", parts);
  graph.give("cat.default", {std::move(list), integerArgument(static_cast<std::int64_t>(axis))}, std::move(shape));
}

void expand(OnnxGraph& graph) {
  const auto shape = broadcast(graph.shape(0), graph.sizes(1));
  if (!shape) throw Damaged{"its shape does not fit"};
  graph.give("expand.default", {graph.operand(0)}, *shape);
}

constexpr std::int64_t kMostPadding = std::int64_t{1} << 20;

void pad(OnnxGraph& graph) {
  static const std::map<std::string, const char*> kModes = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"edge", "replicate"}};
  const auto mode = kModes.find(graph.text("mode", "constant"));
  if (mode == kModes.end()) throw NoForm{"mode " + graph.text("mode", "")};
  const std::size_t rank = graph.in(0).rank();
  const Numbers given = graph.numbers(1);
  Numbers axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (graph.has(3)) axes = graph.numbers(3);
  if (given.size() != 2 * axes.size()) throw Damaged{"its pads are not two for each dimension"};
  if (std::ranges::any_of(given, [](std::int64_t n) { return n < 0 || n > kMostPadding; }))
    throw NoForm{"it cuts off (negative padding)"};
  Numbers pads(2 * rank, 0);
  std::vector<Size> shape = graph.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = graph.axis(axes[i], rank);
    const std::int64_t low = given[i], high = given[axes.size() + i];
    pads[2 * (rank - 1 - axis)] = low;
    pads[2 * (rank - 1 - axis) + 1] = high;
    if (low + high != 0)
      shape[axis] = computed(shape[axis].number + low + high, fmt::format("{} more", low + high), {shape[axis]});
  }
  const std::optional<double> value = graph.has(2) ? graph.number(2) : std::optional(0.0);
  if (value != 0.0 && mode->first == "constant") throw NoForm{"its value is not 0"};
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  graph.give("pad.default", {graph.operand(0), listArgument(pads), textArgument(mode->second), realArgument(0)},
             std::move(shape));
}

constexpr double kMostResized = 0x1p48;

/// The sizes that a Resize gives, by sizes or by factors that they are exactly.
std::vector<Size> resized(OnnxGraph& graph) {
  const std::vector<Size> before = graph.shape(0);
  std::vector<Size> shape = before;
  if (graph.has(3)) {
    shape = graph.sizes(3);
  } else {
    if (!graph.has(2) || graph.in(2).data == nullptr) throw NoForm{"its scales are not known when the model is read"};
    const auto scales = data::toTensor(*graph.in(2).data, TBEM_F64);
    if (!scales || scales->doubles().size() != shape.size()) throw Damaged{"its scales are not one for each dimension"};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const double scale = scales->doubles()[d], size = static_cast<double>(before[d].number) * scale;
      if (!(scale > 0) || scale > 1e6 || size != std::floor(size)) throw NoForm{"its scales give no whole sizes"};
      if (size > kMostResized) throw NoForm{"a size of it is larger than 2^48"};
      const bool isWhole = scale == std::floor(scale);
      if (!isWhole && !before[d].symbolic.empty()) throw NoForm{"its scale is a fraction of a size that is open"};
      shape[d] = isWhole ? product(before[d], sizeOf(static_cast<std::int64_t>(scale))) : sizeOf(static_cast<std::int64_t>(size));
    }
  }
  if (shape.size() != 4 || shape[0].number != before[0].number || shape[1].number != before[1].number)
    throw NoForm{"it changes more than height and width"};
  shape[0] = before[0];
  shape[1] = before[1];
  return shape;
}

void resize(OnnxGraph& graph) {
  if (graph.in(0).rank() != 4) throw NoForm{"its input is no batch of images"};
  if (!graph.integers("axes").empty()) throw NoForm{"axes"};
  if (graph.integer("antialias", 0) != 0) throw NoForm{"antialias"};
  if (graph.text("keep_aspect_ratio_policy", "stretch") != "stretch") throw NoForm{"keep_aspect_ratio_policy"};
  std::vector<Size> shape = resized(graph);
  const std::string mode = graph.text("mode", "nearest"), where = graph.text("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = graph.text("nearest_mode", "round_prefer_floor");
  if (mode == "nearest" && where == "asymmetric" && nearest == "floor")
    return graph.give("upsample_nearest2d.vec", {graph.operand(0)}, std::move(shape));
  const bool aligns = where == "align_corners";
  const bool isSingle = shape[2].number == 1 || shape[3].number == 1;
  if (mode != "linear" || (!aligns && where != "half_pixel" && (where != "pytorch_half_pixel" || isSingle)))
    throw NoForm{fmt::format("mode {}, coordinates {}{}", mode, where, mode == "nearest" ? ", nearest_mode " + nearest : "")};
  graph.give("upsample_bilinear2d.vec", {graph.operand(0), Argument(), flagArgument(aligns)}, std::move(shape));
}

void dropout(OnnxGraph& graph) {
  const std::optional<double> rate = graph.has(1) ? graph.number(1) : std::optional(0.5);
  const bool trains = graph.has(2) && graph.number(2) != 0.0;
  if (!rate || trains || graph.results() > 1)
    throw NoForm{"its rate is not known, it drops when the model is used, or its mask is read"};
  graph.give("dropout.default", {graph.operand(0), realArgument(*rate), flagArgument(false)}, graph.shape(0));
}

}  // namespace

const OnnxOperators& onnxMoves() {
  static const OnnxOperators kOperators = {{"Reshape", reshape},
                                           {"Flatten", flatten},
                                           {"Squeeze", squeeze},
                                           {"Unsqueeze", unsqueeze},
                                           {"Transpose", transpose},
                                           {"Concat", concat},
                                           {"Expand", expand},
                                           {"Pad", pad},
                                           {"Resize", resize},
                                           {"Dropout", dropout},
                                           {"Identity", [](OnnxGraph& graph) { graph.giveSame(0); }}};
  return kOperators;
}

}  // namespace tbem::imports
