#include "runtime/backends/cuda/ops/Shapes.h"

#include <algorithm>
#include <bit>

namespace tbem::cuda {
namespace {

int log2Up(std::int64_t number) { return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 1) - 1)); }

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
  constexpr std::int64_t kFewResults = 1024, kLongRow = 1024;
  if (inner == 0) {
    // Threads of one warp go down a row, unless it is long, or the rows are too few to keep a card busy.
    const bool block = count > kLongRow || (results < kFewResults && count >= kThreads);
    return {block ? kLogThreads : std::min(5, log2Up(count)), 0};
  }
  int width = std::min(5, log2Up(inner));
  while (kLogThreads - width > log2Up(count) && width < kLogThreads && width < log2Up(inner)) ++width;
  return {kLogThreads - width, 1};
}

LinePlan linesOf(const tbem_operand& x, std::int64_t axis) {
  const runtime::Lines lines = runtime::linesAlong(x, axis);
  const std::int64_t count = lines.outer * lines.inner;
  LinePlan plan;
  const Tile tile = tileFor(count, lines.length, lines.inner == 1 ? 0 : count);
  plan.wide = isWide(runtime::elementCount(x));
  plan.blocks = static_cast<std::uint32_t>(quotientUp(count, kThreads >> tile.logDepth));
  plan.narrow = lineShape<std::uint32_t>(lines, tile);
  plan.large = lineShape<std::uint64_t>(lines, tile);
  return plan;
}

}  // namespace tbem::cuda
