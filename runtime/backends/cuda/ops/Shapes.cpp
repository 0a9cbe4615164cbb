#include "runtime/backends/cuda/ops/Shapes.h"

#include <algorithm>
#include <bit>

namespace tbem::cuda {
namespace {

int log2Up(std::int64_t number) { return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 1) - 1)); }

constexpr std::int64_t kShortLine = 32, kLongLine = 8192;

constexpr int kLogThreads = std::bit_width(static_cast<unsigned>(kThreads)) - 1;

template <class Index>
LineShape<Index> lineShape(const runtime::Lines& lines, const Tile& tile) {
  LineShape<Index> shape;
  shape.lines = static_cast<Index>(lines.outer * lines.inner);
  shape.length = static_cast<Index>(lines.length);
  shape.inner = static_cast<Index>(lines.inner);
  shape.innerOf = dividerBy<Index>(lines.inner);
  shape.tile = tile;
  return shape;
}

}  // namespace

std::atomic<std::int64_t>& wideFrom() {
  static std::atomic<std::int64_t> from = kWide;
  return from;
}

template <>
Divider<std::uint32_t> dividerBy<std::uint32_t>(std::int64_t divisor) {
  const auto by = static_cast<std::uint64_t>(std::max<std::int64_t>(divisor, 1));
  const int shift = log2Up(static_cast<std::int64_t>(by));
  const std::uint64_t factor = (((std::uint64_t{1} << shift) - by) << 32) / by + 1;
  return {static_cast<std::uint32_t>(by), static_cast<std::uint32_t>(factor), static_cast<std::uint32_t>(shift)};
}

template <>
Divider<std::uint64_t> dividerBy<std::uint64_t>(std::int64_t divisor) {
  return {static_cast<std::uint64_t>(std::max<std::int64_t>(divisor, 1))};
}

template <class Index, int Most>
Axes<Index, Most> axesOf(std::span<const Axis> axes) {
  Axes<Index, Most> reversed;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    reversed.dims[reversed.rank] = dividerBy<Index>(axis->length);
    reversed.strides[reversed.rank++] = static_cast<Index>(axis->step);
  }
  return reversed;
}
template Axes<std::uint32_t, kMostTurns> axesOf(std::span<const Axis>);
template Axes<std::uint64_t, kMostTurns> axesOf(std::span<const Axis>);
template Axes<std::uint32_t, kMostAxes> axesOf(std::span<const Axis>);
template Axes<std::uint64_t, kMostAxes> axesOf(std::span<const Axis>);

std::int64_t quotientUp(std::int64_t number, std::int64_t by) { return number / by + (number % by != 0 ? 1 : 0); }

std::uint32_t blocksFor(std::int64_t threads) { return static_cast<std::uint32_t>(quotientUp(threads, kThreads)); }

Tile tileFor(std::int64_t results, std::int64_t count, std::int64_t inner) {
  // Threads that keep a large card busy, and elements that are worth a thread where there are as many.
  constexpr std::int64_t kBusy = std::int64_t{1} << 18, kEach = 8;
  const int most = log2Up(count), wanted = log2Up(quotientUp(kBusy, std::max<std::int64_t>(results, 1)));
  if (inner == 0) {
    constexpr int kLogWarp = 5;
    constexpr std::int64_t kLongRow = 1024;
    if (count > kLongRow || (wanted > kLogWarp && most >= kLogThreads)) return {kLogThreads, 0};
    return {std::min({kLogWarp, most, std::max(log2Up(quotientUp(count, kEach)), wanted)}), 0};
  }
  // A warp reads along a row where it is long enough; blocks go down as far as it takes to have enough of them.
  const int across = std::min(5, log2Up(inner)), widest = std::min(kLogThreads, log2Up(inner));
  return {std::max(kLogThreads - widest, std::min({kLogThreads - across, most, wanted})), 1};
}

LinePlan linesOf(const tbem_operand& x, std::int64_t axis) {
  const runtime::Lines lines = runtime::linesAlong(x, axis);
  const std::int64_t count = lines.outer * lines.inner;
  LinePlan plan;
  Tile tile = tileFor(count, lines.length, lines.inner == 1 ? 0 : count);
  plan.wide = isWide(runtime::elementCount(x));
  constexpr int kLogWarp = 5;
  if (lines.inner == 1 && lines.length >= kLongLine) {
    // Few lines at a time, so that the second reading of one still finds it in the cache.
    plan.threads = kMostThreads;
    tile.logDepth = log2Up(kMostThreads);
  } else if (lines.inner == 1 && lines.length > kShortLine && lines.length <= 1024 && !plan.wide) {
    plan.each = lines.length <= 256 ? 8 : 32;
    tile.logDepth = kLogWarp;
  }
  plan.blocks = static_cast<std::uint32_t>(quotientUp(count, static_cast<std::int64_t>(plan.threads) >> tile.logDepth));
  plan.narrow = lineShape<std::uint32_t>(lines, tile);
  plan.large = lineShape<std::uint64_t>(lines, tile);
  return plan;
}

}  // namespace tbem::cuda
