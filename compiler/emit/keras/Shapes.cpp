// Operators that move elements, and tensors of given numbers.
#include "compiler/emit/keras/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tbem::emit::keras {

namespace {

/// A shape whose first size is left to Keras, so that the batch is no number of the program.
Marked sizes(const KerasCall& call, const Numbers& shape) {
  std::string text;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += axis == 0 ? "-1" : ", " + call.hole("size", shape[axis]);
  return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
}
bool hasOnePixel(const Numbers& shape) {
  return shape.size() > 2 && std::all_of(shape.begin() + 2, shape.end(), [](std::int64_t n) { return n == 1; });
}
Code reshaped(const KerasCall& call, Numbers shape) {
  const Numbers given = call.shape(0);
  // Of an image of one pixel, the channels are in order wherever they lie.
  const Marked operand = hasOnePixel(given) ? call.operand(0) : call.inOrder(0);
  const bool isPixel = hasOnePixel(shape) && given.size() == 2 && given[0] == shape[0];
  if (isPixel) {
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    call.makesLast();
  }
  return functionCode("ops.reshape", {{"", operand, ""}, {"", sizes(call, shape), ""}});
}
Code reshape(const KerasCall& call) { return reshaped(call, call.resultShape()); }

/// Our axes in another order, counted from the tensor as it lies; nothing is moved where the result lies so with its channels
/// last.
Code reordered(const KerasCall& call, const Numbers& order) {
  const std::size_t rank = order.size();
  const auto lies = [&](const Numbers& ours) {
    Numbers places;
    for (const std::int64_t axis : ours) places.push_back(call.isLast() ? placeOf(axis, rank) : axis);
    return places;
  };
  Numbers same(rank);
  std::iota(same.begin(), same.end(), 0);
  if (lies(order) == same) return expressionCode(call.operand(0), Binding::Any);
  Numbers last;  // the same, with the result's channels last
  if (rank > 2) {
    for (const std::int64_t axis : channelsLast(rank)) last.push_back(order[static_cast<std::size_t>(axis)]);
  }
  if (lies(last) == same) {
    call.makesLast();
    return expressionCode(call.operand(0), Binding::Any);
  }
  return expressionCode(transposed(call.operand(0), lies(order)), Binding::Atom);
}
Code permute(const KerasCall& call) {
  Numbers order = call.integers("order");
  for (std::int64_t& axis : order)
    axis = (axis + static_cast<std::int64_t>(order.size())) % static_cast<std::int64_t>(order.size());
  return reordered(call, order);
}
Code transpose(const KerasCall& call) {
  Numbers order(call.rank());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = static_cast<std::int64_t>(order.size());
  const auto at = [&](const char* word) { return static_cast<std::size_t>((call.integer(word) + rank) % rank); };
  std::swap(order[at("first")], order[at("second")]);
  return reordered(call, order);
}

/// A list with a number an axis of ours, as the tensor lies.
Numbers placed(const KerasCall& call, const Numbers& ours) {
  Numbers numbers = ours;
  if (call.isLast() && numbers.size() > 2) std::rotate(numbers.begin() + 1, numbers.begin() + 2, numbers.end());
  return numbers;
}
Code pad(const KerasCall& call) {
  const Numbers low = placed(call, call.integers("low")), high = placed(call, call.integers("high"));
  std::string sides;
  for (std::size_t axis = 0; axis < low.size(); ++axis)
    sides += fmt::format("{}({}, {})", axis == 0 ? "" : ", ", call.hole("padding", low[axis]), call.hole("padding", high[axis]));
  call.keepsLayout();
  return functionCode("ops.pad", {{"", call.operand(0), ""}, {"", fmt::format("({}{})", sides, low.size() == 1 ? "," : ""), ""}});
}
Code slice(const KerasCall& call) {
  call.keepsLayout();
  return sliceCode(call.operand(0, Binding::Atom), placed(call, call.integers("start")), placed(call, call.integers("size")),
                   placed(call, call.integers("stride")), placed(call, call.shape(0)));
}

/// Tensors of one shape in a list; with their channels last where one of them has them so.
Code concat(const KerasCall& call) {
  const std::vector<graph::TensorId> tensors = tensorsOf(call.call.tensors.front());
  const bool isLast = std::any_of(tensors.begin(), tensors.end(), [&](graph::TensorId one) { return call.layouts.isLast(one); });
  std::string list;
  for (const graph::TensorId tensor : tensors)
    list += (list.empty() ? "" : ", ") + (isLast ? call.layouts.withLast(tensor) : call.layouts.inOrder(tensor));
  if (isLast) call.makesLast();
  const std::size_t rank = call.resultShape().size();
  const auto count = static_cast<std::int64_t>(rank);
  const std::int64_t ours = (call.integer("axis") + count) % count, place = isLast ? placeOf(ours, rank) : ours;
  return functionCode("ops.concatenate",
                      {{"", "[" + list + "]", ""}, {"axis", call.hole("axis", place + 1 == count ? -1 : place), "0"}});
}
Code stack(const KerasCall& call) {
  std::string list;
  for (const graph::TensorId tensor : tensorsOf(call.call.tensors.front()))
    list += (list.empty() ? "" : ", ") + call.layouts.inOrder(tensor);
  return functionCode("ops.stack", {{"", "[" + list + "]", ""}, {"axis", call.hole("axis", call.integer("axis")), "0"}});
}
/// Equal parts by their number, others by where they end.
Code split(const KerasCall& call) {
  const Numbers given = call.integers("sizes");
  const bool isEven = std::all_of(given.begin(), given.end(), [&](std::int64_t size) { return size == given.front(); });
  Numbers ends;
  for (std::size_t part = 0; part + 1 < given.size(); ++part) ends.push_back((ends.empty() ? 0 : ends.back()) + given[part]);
  const std::string parts =
      isEven ? pythonText(static_cast<std::int64_t>(given.size())) : fmt::format("[{}]", fmt::join(ends, ", "));
  const std::int64_t axis = call.axisOf(call.integer("axis"));
  call.keepsLayout();
  return functionCode(
      "ops.split", {{"", call.operand(0), ""}, {"", call.hole("sections", parts), ""}, {"axis", call.hole("axis", axis), "0"}});
}

std::string axesText(const KerasCall& call) {
  Numbers axes = call.integers("axis");
  for (std::int64_t& axis : axes) axis = call.axisOf(axis);
  return pythonText(axes);
}
Code flip(const KerasCall& call) {
  const std::string axes = axesText(call);
  call.keepsLayout();
  return functionCode("ops.flip", {{"", call.operand(0), ""}, {"axis", call.hole("axis", axes), ""}});
}
Code roll(const KerasCall& call) {
  const std::string axes = axesText(call);
  call.keepsLayout();
  return functionCode("ops.roll", {{"", call.operand(0), ""},
                                   {"", call.hole("shift", pythonText(call.integers("shift"))), ""},
                                   {"axis", call.hole("axis", axes), ""}});
}
Code broadcastTo(const KerasCall& call) {
  return functionCode("ops.broadcast_to",
                      {{"", call.inOrder(0), ""}, {"", call.hole("shape", pythonText(call.resultShape())), ""}});
}
Code channelShuffle(const KerasCall& call) {
  const Numbers shape = call.shape(0);
  const std::int64_t groups = call.integer("groups");
  const Numbers parts = {shape[0], shape[2], shape[3], groups, shape[1] / groups};
  const Marked image = call.withLast(0);
  call.makesLast();
  const Marked swapped = fmt::format("ops.swapaxes(ops.reshape({}, {}), -1, -2)", image, sizes(call, parts));
  return functionCode("ops.reshape", {{"", swapped, ""}, {"", sizes(call, {shape[0], shape[2], shape[3], shape[1]}), ""}});
}
Code upsample2d(const KerasCall& call) {
  const Numbers size = call.integers("size"), shape = call.shape(0);
  const Marked image = call.withLast(0);
  call.makesLast();
  const Marked rows = fmt::format("ops.repeat({}, {}, axis=1)", image, call.hole("factor", size[0] / shape[2]));
  return functionCode("ops.repeat", {{"", rows, ""}, {"", call.hole("factor", size[1] / shape[3]), ""}, {"axis", "2", ""}});
}

Argument typed(const KerasCall& call) { return {"dtype", kerasType(call.resultType()), ""}; }
Argument shaped(const KerasCall& call) { return {"", call.hole("shape", pythonText(call.resultShape())), ""}; }
Code zeros(const KerasCall& call) { return functionCode("ops.zeros", {shaped(call), typed(call)}); }
Code ones(const KerasCall& call) { return functionCode("ops.ones", {shaped(call), typed(call)}); }
Code fill(const KerasCall& call) {
  return functionCode("ops.full", {shaped(call), {"", call.realHole("value"), ""}, typed(call)});
}
Code arange(const KerasCall& call) {
  return functionCode("ops.arange", {{"", call.hole("n", call.integer("n")), ""}, typed(call)});
}
Code oneHot(const KerasCall& call) {
  return functionCode("ops.one_hot",
                      {{"", call.inOrder(0), ""}, {"", call.hole("classes", call.integer("classes")), ""}, typed(call)});
}
Code chosen(const KerasCall& call, const char* callee) {
  const Marked text = fmt::format("{}({}, axis={})", callee, call.inOrder(0), call.hole("axis", call.integer("axis")));
  return functionCode("ops.cast", {{"", text, ""}, {"", kerasType(call.resultType()), ""}});
}
Code argmax(const KerasCall& call) { return chosen(call, "ops.argmax"); }
Code argmin(const KerasCall& call) { return chosen(call, "ops.argmin"); }
Code cast(const KerasCall& call) {
  call.keepsLayout();
  return functionCode("ops.cast", {{"", call.operand(0), ""}, {"", kerasType(call.resultType()), ""}});
}
Code gather(const KerasCall& call) {
  return functionCode(
      "ops.take", {{"", call.inOrder(0), ""}, {"", call.inOrder(1), ""}, {"axis", call.hole("axis", call.integer("axis")), ""}});
}

constexpr auto kWriters = std::to_array<Writer>({{"reshape", reshape},
                                                 {"flatten", reshape},
                                                 {"permute", permute},
                                                 {"transpose", transpose},
                                                 {"pad", pad},
                                                 {"slice", slice},
                                                 {"concat", concat},
                                                 {"stack", stack},
                                                 {"split", split},
                                                 {"flip", flip},
                                                 {"roll", roll},
                                                 {"broadcast_to", broadcastTo},
                                                 {"channel_shuffle", channelShuffle},
                                                 {"upsample2d", upsample2d},
                                                 {"zeros", zeros},
                                                 {"ones", ones},
                                                 {"fill", fill},
                                                 {"arange", arange},
                                                 {"one_hot", oneHot},
                                                 {"argmax", argmax},
                                                 {"argmin", argmin},
                                                 {"cast", cast},
                                                 {"as_real", cast},
                                                 {"gather", gather}});

}  // namespace

std::span<const Writer> shapeWriters() { return kWriters; }

}  // namespace tbem::emit::keras
