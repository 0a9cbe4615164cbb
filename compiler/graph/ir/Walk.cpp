#include "compiler/graph/ir/Walk.h"

namespace tbem::graph {

std::vector<Placed> inOrder(const Graph& graph) {
  std::vector<Placed> order;
  struct Open {
    RegionId region;
    std::size_t next;
  };
  std::vector<Open> open{{kMainRegion, 0}};
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == graph[top.region].ops.size()) {
      open.pop_back();
      continue;
    }
    const OpId id = graph[top.region].ops[top.next++];
    order.push_back({id, static_cast<int>(open.size()) - 1});
    const std::vector<RegionId>& arms = graph[id].regions;
    for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm) open.push_back({*arm, 0});
  }
  return order;
}

std::vector<OpId> programOrder(const Graph& graph) {
  std::vector<OpId> order;
  for (const Placed& placed : inOrder(graph)) order.push_back(placed.op);
  return order;
}

}  // namespace tbem::graph
