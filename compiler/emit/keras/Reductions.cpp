// Pooling and reductions.
#include "compiler/emit/keras/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit::keras {

namespace {

/// Windows over an image or a signal.
struct Window {
  Numbers size, kernel, stride, pad, result;
};
Window windowOf(const KerasCall& call) {
  const Numbers shape = call.shape(0), result = call.resultShape();
  Window window{{shape.begin() + 2, shape.end()},
                call.several("kernel"),
                call.several("stride"),
                call.several("pad"),
                {result.begin() + 2, result.end()}};
  const std::size_t count = window.size.size();
  if (window.pad.size() == count) window.pad.insert(window.pad.end(), window.pad.begin(), window.pad.end());
  return window;
}

/// Strides are written always: without them JAX's pooling takes no number for the window (Keras 3.15).
Code pooled(const KerasCall& call, const char* callee, const Window& window, const Marked& operand, bool isSame) {
  return functionCode(callee, {{"", operand, ""},
                               {"", call.hole("pool_size", evenText(window.kernel)), ""},
                               {"", call.hole("strides", evenText(window.stride)), ""},
                               {"padding", isSame ? "\"same\"" : "\"valid\"", "\"valid\""}});
}
bool isPaddedSame(const Window& window) {
  const Numbers ones(window.size.size(), 1);
  return isSame(window.size, window.kernel, window.stride, ones, window.pad, window.result);
}

Code maxPool(const KerasCall& call) {
  Window window = windowOf(call);
  // What the last windows reach, where they reach over the edge.
  for (std::size_t axis = 0; axis < window.size.size(); ++axis) {
    const std::int64_t reached = (window.result[axis] - 1) * window.stride[axis] + window.kernel[axis] - window.pad[axis];
    std::int64_t& behind = window.pad[axis + window.size.size()];
    behind = std::max<std::int64_t>(reached - window.size[axis], 0);
  }
  const bool same = !isZero(window.pad) && isPaddedSame(window);
  const Marked operand =
      same ? call.withLast(0) : padded(call, call.withLast(0), window.pad, ", constant_values=-float(\"inf\")");
  call.makesLast();
  return pooled(call, "ops.max_pool", window, operand, same);
}

/// Keras leaves zeros at the sides out of the mean where it adds them itself, and counts those that are there already.
Code avgPool(const KerasCall& call) {
  const Window window = windowOf(call);
  const bool counts = call.flag("count_include_pad") || isZero(window.pad), same = !counts && isPaddedSame(window);
  const Marked image = call.withLast(0);
  call.makesLast();
  if (counts || same) return pooled(call, "ops.average_pool", window, same ? image : padded(call, image, window.pad), same);
  return functionCode("average_pool", {{"", image, ""},
                                       {"", call.hole("pool_size", evenText(window.kernel)), ""},
                                       {"", call.hole("strides", evenText(window.stride)), ""},
                                       {"", sidesText(call, window.pad), ""}});
}

Code adaptivePool(const KerasCall& call, const char* callee) {
  const Marked image = call.withLast(0);
  call.makesLast();
  return functionCode(callee, {{"", image, ""}, {"", call.hole("size", pythonText(call.integers("size"))), ""}});
}
Code adaptiveAvgPool2d(const KerasCall& call) { return adaptivePool(call, "ops.adaptive_average_pool"); }
Code adaptiveMaxPool2d(const KerasCall& call) { return adaptivePool(call, "ops.adaptive_max_pool"); }

/// Over our axes. Where the channels stay behind the samples and before others, they stay last.
Code reducedOver(const KerasCall& call, const char* callee, const Numbers& ours) {
  const auto rank = static_cast<std::int64_t>(call.rank());
  Numbers dropped;
  for (const std::int64_t axis : ours) dropped.push_back((axis + rank) % rank);
  const auto drops = [&](std::int64_t axis) { return std::find(dropped.begin(), dropped.end(), axis) != dropped.end(); };
  const bool isLast = call.isLast();
  const bool othersStay = !drops(1) && static_cast<std::int64_t>(dropped.size()) + 2 <= rank - (drops(0) ? 0 : 1);
  const bool reorders = isLast && othersStay && drops(0);
  if (isLast && othersStay && !drops(0)) call.makesLast();
  Numbers axes;
  for (const std::int64_t axis : dropped) axes.push_back(isLast && !reorders ? placeOf(axis, call.rank()) : axis);
  std::sort(axes.begin(), axes.end());
  return functionCode(callee, {{"", reorders ? call.inOrder(0) : call.operand(0), ""},
                               {"axis", call.hole("axis", axes.size() == 1 ? pythonText(axes.front()) : pythonText(axes)), ""}});
}
Code reduction(const KerasCall& call, const char* callee) { return reducedOver(call, callee, call.integers("axis")); }
Code sum(const KerasCall& call) { return reduction(call, "ops.sum"); }
Code mean(const KerasCall& call) { return reduction(call, "ops.mean"); }
Code max(const KerasCall& call) { return reduction(call, "ops.max"); }
Code min(const KerasCall& call) { return reduction(call, "ops.min"); }
Code variance(const KerasCall& call) { return reduction(call, "ops.var"); }
Code globalAvgPool(const KerasCall& call) { return reducedOver(call, "ops.mean", {2, 3}); }
Code cumsum(const KerasCall& call) {
  const std::int64_t axis = call.axisOf(call.integer("axis"));
  call.keepsLayout();
  return functionCode("ops.cumsum", {{"", call.operand(0), ""}, {"axis", call.hole("axis", axis), ""}});
}
Code sumSquares(const KerasCall& call) {
  return functionCode("ops.sum", {{"", fmt::format("ops.square({})", call.operand(0)), ""}});
}

constexpr auto kWriters = std::to_array<Writer>({{"max_pool2d", maxPool},
                                                 {"avg_pool2d", avgPool},
                                                 {"max_pool1d", maxPool},
                                                 {"avg_pool1d", avgPool},
                                                 {"adaptive_avg_pool2d", adaptiveAvgPool2d},
                                                 {"adaptive_max_pool2d", adaptiveMaxPool2d},
                                                 {"global_avg_pool", globalAvgPool},
                                                 {"sum", sum},
                                                 {"mean", mean},
                                                 {"max", max},
                                                 {"min", min},
                                                 {"variance", variance},
                                                 {"cumsum", cumsum},
                                                 {"sum_squares", sumSquares}});

}  // namespace

std::span<const Writer> reductionWriters() { return kWriters; }

}  // namespace tbem::emit::keras
