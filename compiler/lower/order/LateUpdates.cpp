#include "compiler/lower/order/LateUpdates.h"

#include "compiler/count/Schedule.h"
#include "compiler/count/Static.h"
#include "compiler/lower/order/OrderOf.h"
#include "compiler/lower/order/OrderSearch.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tbem::estimate {

using graph::index;
using graph::OpId;

namespace {
constexpr std::int64_t kMostElements = 16 * 1024;  // a launch takes longer than they do

/// All places, those that are late behind the others.
std::vector<std::uint32_t> lateLast(const std::vector<bool>& late) {
  std::vector<std::uint32_t> places(late.size());
  std::iota(places.begin(), places.end(), 0U);
  std::ranges::stable_partition(places, [&](std::uint32_t place) { return !late[place]; });
  return places;
}
}  // namespace

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
  std::vector<OpId> moved;
  moved.reserve(order.size());
  for (const std::uint32_t place : lateLast(last)) moved.push_back(order[place]);
  return moved;
}

std::vector<OpId> updatesLast(const graph::Graph& graph, const Program& program, const std::vector<OpId>& order,
                              const std::vector<graph::TensorId>& kept) {
  const OrderProblem problem = orderProblem(graph, program, order, kept);
  const auto isUpdate = [&](std::uint32_t place) {
    const graph::Op& op = graph[order[place]];
    return op.phase == graph::Phase::Optimizer && op.kind == graph::OpKind::Elementwise;
  };
  std::vector<bool> late(order.size(), false);
  const std::uint64_t most = peakOf(problem, lateLast(late));
  for (std::uint32_t end = static_cast<std::uint32_t>(order.size()); end > 0;) {
    // What an optimiser computes for one weight in several operators, which become one loop, waits together.
    std::vector<bool> tried = late;
    std::uint32_t begin = end;
    const auto isLate = [&](std::uint32_t place) { return tried[place]; };
    while (begin > 0 && isUpdate(begin - 1) && std::ranges::all_of(problem.after[begin - 1], isLate)) tried[--begin] = true;
    if (begin == end) {
      --end;
      continue;
    }
    if (peakOf(problem, lateLast(tried)) <= most) late = std::move(tried);
    end = begin;
  }
  std::vector<OpId> moved;
  for (const std::uint32_t place : lateLast(late)) moved.push_back(order[place]);
  return moved == order ? std::vector<OpId>() : moved;
}

}  // namespace tbem::estimate
