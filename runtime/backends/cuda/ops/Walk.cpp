#include "runtime/backends/cuda/ops/Walk.h"

#include <algorithm>

namespace tbem::cuda {
namespace {

constexpr std::uint64_t kMostBytes = 16;

/// The same box in pieces of `by` elements, which divide everything.
Box inPieces(Box box, std::int64_t by) {
  for (WalkAxis& axis : box.axes) axis.from /= by, axis.to /= by;
  box.axes.back() = {box.axes.back().length / by, 1, 1};
  box.fromStart /= by, box.toStart /= by;
  return box;
}

bool comesInPieces(const Box& box, std::int64_t by) {
  if (box.axes.empty() || box.axes.back().from != 1 || box.axes.back().to != 1) return false;
  if (box.axes.back().length % by != 0 || box.fromStart % by != 0 || box.toStart % by != 0) return false;
  return std::all_of(box.axes.begin(), box.axes.end() - 1,
                     [by](const WalkAxis& axis) { return axis.from % by == 0 && axis.to % by == 0; });
}

template <class Index>
Walk<Index> walkOf(const Box& box, std::int64_t count) {
  Walk<Index> walk;
  for (auto axis = box.axes.rbegin(); axis != box.axes.rend(); ++axis) {
    walk.dims[walk.rank] = dividerBy<Index>(axis->length);
    walk.from[walk.rank] = static_cast<Index>(axis->from);
    walk.to[walk.rank++] = static_cast<Index>(axis->to);
  }
  walk.fromStart = static_cast<Index>(box.fromStart);
  walk.toStart = static_cast<Index>(box.toStart);
  walk.count = static_cast<Index>(count);
  return walk;
}

bool isAligned(const void* address, std::uint64_t bytes) { return reinterpret_cast<std::uintptr_t>(address) % bytes == 0; }

}  // namespace

Box joined(const Box& box) {
  Box few{{}, box.fromStart, box.toStart};
  for (const WalkAxis& axis : box.axes) {
    if (axis.length == 1) continue;
    WalkAxis* const before = few.axes.empty() ? nullptr : &few.axes.back();
    if (before != nullptr && before->from == axis.length * axis.from && before->to == axis.length * axis.to) {
      *before = {before->length * axis.length, axis.from, axis.to};
    } else {
      few.axes.push_back(axis);
    }
  }
  return few;
}

Copy::Plan Copy::planOf(const Box& box, std::uint64_t bytes) {
  Plan plan;
  plan.bytes = bytes;
  plan.count = 1;
  for (const WalkAxis& axis : box.axes) plan.count *= axis.length;
  plan.narrow = walkOf<std::uint32_t>(box, plan.count);
  plan.large = walkOf<std::uint64_t>(box, plan.count);
  return plan;
}

Copy::Copy(const Box& box, std::uint64_t elementBytes, std::int64_t elements) : wide_(isWide(elements)) {
  const Box few = joined(box);
  plan_ = together_ = planOf(few, elementBytes);
  for (std::uint64_t bytes = kMostBytes; bytes > elementBytes; bytes /= 2) {
    const auto by = static_cast<std::int64_t>(bytes / elementBytes);
    if (!comesInPieces(few, by)) continue;
    together_ = planOf(inPieces(few, by), bytes);
    break;
  }
}

tbem_status Copy::run(const void* x, void* y) const {
  if (plan_.count == 0) return TBEM_OK;
  // An operand may be a part of another, and begin anywhere in it.
  const Plan& plan = isAligned(x, together_.bytes) && isAligned(y, together_.bytes) ? together_ : plan_;
  const Kernel kernel = TBEM_SIZED_KERNELS(Walk).of(plan.bytes, wide_);
  const Grid grid{blocksFor(plan.count), kThreads};
  return wide_ ? launch(kernel, grid, plan.large, x, y) : launch(kernel, grid, plan.narrow, x, y);
}

}  // namespace tbem::cuda
