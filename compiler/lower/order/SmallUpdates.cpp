#include "compiler/lower/order/SmallUpdates.h"

#include "compiler/count/Schedule.h"
#include "compiler/count/Static.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tbem::estimate {

using graph::index;
using graph::OpId;

namespace {
constexpr std::int64_t kMostElements = 16 * 1024;  // a launch takes longer than they do
}

std::vector<OpId> smallUpdatesLast(const graph::Graph& graph, const graph::Branches& branches,
                                   const std::vector<std::vector<std::int64_t>>& dims, std::vector<OpId> order) {
  const auto isSmall = [&](graph::TensorId result) {
    const std::vector<std::int64_t>& of = dims[index(result)];
    return std::accumulate(of.begin(), of.end(), std::int64_t{1}, std::multiplies<>()) <= kMostElements;
  };
  const auto outlives = [&](graph::TensorId result) { return isPersistent(graph[graph[result].storage]); };
  const auto isSmallUpdate = [&](const graph::Op& op, OpId id) {
    // What each micro-batch does stays among the micro-batches.
    const bool isUpdate =
        op.phase == graph::Phase::Optimizer || (graph.microBatches == 1 && std::ranges::all_of(op.outputs, outlives));
    return isUpdate && op.kind == graph::OpKind::Elementwise && branches.of[index(id)] == graph::kAllSamples &&
           std::ranges::all_of(op.outputs, isSmall);
  };
  std::vector<bool> last(order.size(), false);
  const std::vector<std::vector<std::uint32_t>> after = mustFollow(graph, order);
  for (std::size_t i = order.size(); i-- > 0;)
    last[i] = isSmallUpdate(graph[order[i]], order[i]) &&
              std::ranges::all_of(after[i], [&](std::uint32_t follower) { return last[follower]; });
  std::vector<OpId> moved, updates;
  moved.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) (last[i] ? updates : moved).push_back(order[i]);
  moved.insert(moved.end(), updates.begin(), updates.end());
  return moved;
}

}  // namespace tbem::estimate
