#include "compiler/lower/order/LateUpdates.h"

#include "compiler/count/Schedule.h"
#include "compiler/count/Static.h"
#include "compiler/lower/order/OrderOf.h"
#include "compiler/lower/order/OrderSearch.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

namespace tbem::estimate {

using graph::index;
using graph::OpId;

namespace {
constexpr std::int64_t kMostElements = 16 * 1024;  // a launch takes longer than they do

/// The order with the operators at places that are late behind the others.
std::vector<OpId> lateLast(const std::vector<OpId>& order, const std::vector<bool>& late) {
  std::vector<OpId> moved, last;
  moved.reserve(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) (late[place] ? last : moved).push_back(order[place]);
  moved.insert(moved.end(), last.begin(), last.end());
  return moved;
}
}  // namespace

bool isUpdate(const graph::Graph& graph, OpId id) {
  const graph::Op& op = graph[id];
  const auto outlives = [&](graph::TensorId result) { return isPersistent(graph[graph[result].storage]); };
  const bool isOnce =
      op.phase == graph::Phase::Optimizer || (graph.microBatches == 1 && std::ranges::all_of(op.outputs, outlives));
  return isOnce && op.kind == graph::OpKind::Elementwise;
}

std::vector<OpId> smallUpdatesLast(const graph::Graph& graph, const graph::Branches& branches,
                                   const std::vector<std::vector<std::int64_t>>& dims, std::vector<OpId> order) {
  const auto isSmall = [&](graph::TensorId result) {
    const std::vector<std::int64_t>& of = dims[index(result)];
    return std::accumulate(of.begin(), of.end(), std::int64_t{1}, std::multiplies<>()) <= kMostElements;
  };
  std::vector<bool> late(order.size(), false);
  const std::vector<std::vector<std::uint32_t>> after = mustFollow(graph, order);
  for (std::size_t i = order.size(); i-- > 0;)
    late[i] = isUpdate(graph, order[i]) && branches.of[index(order[i])] == graph::kAllSamples &&
              std::ranges::all_of(graph[order[i]].outputs, isSmall) &&
              std::ranges::all_of(after[i], [&](std::uint32_t follower) { return late[follower]; });
  return lateLast(order, late);
}

std::vector<OpId> updatesLast(const graph::Graph& graph, const Program& program, const std::vector<OpId>& order,
                              const std::vector<graph::TensorId>& kept) {
  const OrderProblem problem = orderProblem(graph, program, order, kept);
  std::vector<std::uint64_t> live = liveOf(problem);
  const std::uint64_t most = live.empty() ? 0 : *std::ranges::max_element(live);
  std::vector<std::vector<std::uint32_t>> readBy(order.size());  // values
  std::vector<bool> waits;                                       // by value: it lives to the end
  for (std::uint32_t v = 0; v < problem.values.size(); ++v) {
    for (const std::uint32_t reader : problem.values[v].readers) readBy[reader].push_back(v);
    waits.push_back(problem.values[v].kept);
  }
  std::vector<bool> late(order.size(), false);
  for (auto end = static_cast<std::uint32_t>(order.size()); end > 0;) {
    // What an optimiser computes for one weight in several operators, which become one loop, waits together.
    std::uint32_t begin = end;
    const auto wouldBeLate = [&](std::uint32_t place) { return place < end ? place >= begin : late[place]; };
    while (begin > 0 && isUpdate(graph, order[begin - 1]) && std::ranges::all_of(problem.after[begin - 1], wouldBeLate)) --begin;
    if (begin == end) {
      --end;
      continue;
    }
    std::vector<std::uint32_t> longer;  // values that live on then
    std::uint64_t bytes = 0;
    for (std::uint32_t place = begin; place < end; ++place) {
      for (const std::uint32_t v : readBy[place]) {
        if (waits[v] || std::ranges::find(longer, v) != longer.end()) continue;
        longer.push_back(v);
        bytes += problem.values[v].bytes;
      }
    }
    const std::span<std::uint64_t> behind = std::span(live).subspan(end);
    if (std::ranges::all_of(behind, [&](std::uint64_t here) { return here + bytes <= most; })) {
      for (std::uint64_t& here : behind) here += bytes;
      for (std::uint32_t place = begin; place < end; ++place) late[place] = true;
      for (const std::uint32_t v : longer) waits[v] = true;
    }
    end = begin;
  }
  std::vector<OpId> moved = lateLast(order, late);
  return moved == order ? std::vector<OpId>() : moved;
}

}  // namespace tbem::estimate
