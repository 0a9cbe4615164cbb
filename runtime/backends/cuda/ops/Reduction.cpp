#include "runtime/backends/cuda/ops/Reduction.h"

#include <algorithm>
#include <vector>

namespace tbem::cuda {
namespace {

/// Blocks that keep a large card busy; with as many no result is shared out.
constexpr std::int64_t kEnoughBlocks = kMostColumns;
/// Elements that a thread takes at least before its result is shared out further.
constexpr std::int64_t kFewest = 8;

struct Group {
  bool reduced;
  std::int64_t length, step;
};

/// Neighbouring axes that are all kept or all reduced as one; those of length 1 left out.
std::vector<Group> groupsOf(const tbem_operand& x, const Reduced& reduced) {
  std::vector<Group> groups;  // from the innermost
  std::int64_t step = 1;
  for (int d = x.rank; d-- > 0; step *= x.dims[d]) {
    if (x.dims[d] == 1) continue;
    const bool same = !groups.empty() && groups.back().reduced == reduced[static_cast<std::size_t>(d)];
    if (same) {
      groups.back().length *= x.dims[d];
    } else {
      groups.push_back({reduced[static_cast<std::size_t>(d)], x.dims[d], step});
    }
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}

template <class Index>
void fill(ReduceShape<Index>& shape, const std::vector<Group>& groups, const Reduction& plan, const Tile& tile,
          std::int64_t share) {
  std::vector<Axis> kept, reduced;
  for (const Group& group : groups) (group.reduced ? reduced : kept).push_back({group.length, group.step});
  shape.tile = tile;
  if (tile.columns != 0) {
    shape.inner = static_cast<Index>(kept.back().length);
    shape.tiles = dividerBy<Index>(quotientUp(kept.back().length, kThreads >> tile.logDepth));
    kept.pop_back();
  }
  shape.kept = axesOf<Index, kMostTurns>(kept);
  shape.reduced = axesOf<Index, kMostTurns>(reduced);
  shape.outputs = static_cast<Index>(plan.outputs);
  shape.count = static_cast<Index>(plan.count);
  shape.share = static_cast<Index>(share);
}

}  // namespace

Reduction reductionOver(const tbem_operand& x, const Reduced& reduced) {
  const std::vector<Group> groups = groupsOf(x, reduced);
  Reduction plan;
  for (int d = 0; d < x.rank; ++d) (reduced[static_cast<std::size_t>(d)] ? plan.count : plan.outputs) *= x.dims[d];
  plan.wide = isWide(runtime::elementCount(x));
  const std::int64_t inner = !groups.empty() && !groups.back().reduced ? groups.back().length : 0;
  const Tile tile = tileFor(plan.outputs, plan.count, inner);
  const std::int64_t width = kThreads >> tile.logDepth, depth = std::int64_t{1} << tile.logDepth;
  const std::int64_t blocks = inner > 0 ? plan.outputs / inner * quotientUp(inner, width) : quotientUp(plan.outputs, width);
  plan.blocks = static_cast<std::uint32_t>(blocks);
  std::int64_t share = std::max<std::int64_t>(plan.count, 1);
  if (blocks > 0 && blocks < kEnoughBlocks) {
    const std::int64_t most = std::min(quotientUp(kEnoughBlocks, blocks), plan.count / (depth * kFewest));
    if (most > 1) share = quotientUp(quotientUp(plan.count, most), depth) * depth;
  }
  plan.shares = static_cast<std::uint32_t>(std::max<std::int64_t>(quotientUp(plan.count, share), 1));
  fill(plan.narrow, groups, plan, tile, share);
  fill(plan.large, groups, plan, tile, share);
  return plan;
}

Reduction reductionOfAll(std::int64_t count) { return reductionOver(runtime::plainOperand(TBEM_F32, {count}), {true}); }

}  // namespace tbem::cuda
