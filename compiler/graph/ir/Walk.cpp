#include "compiler/graph/ir/Walk.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

namespace {
struct Placer {
  const Graph& graph;
  std::vector<Placed> order = {};
  int depth = 0;
  bool isBehindExit = false;

  void visit(OpId op) {
    order.push_back({op, depth, depth > 0 || isBehindExit});
    isBehindExit = isBehindExit || (depth == 0 && graph[op].kind == OpKind::Exit);
  }
  void enter(const Arm&) { ++depth; }
  void leave(const Arm&) { --depth; }
};
}  // namespace

std::vector<Placed> inOrder(const Graph& graph) {
  Placer placer{graph};
  walk(graph, placer);
  return std::move(placer.order);
}

std::vector<OpId> programOrder(const Graph& graph) {
  std::vector<OpId> order;
  for (const Placed& placed : inOrder(graph)) order.push_back(placed.op);
  return order;
}

const Op* firstGate(const Graph& graph) {
  const auto gate = std::find_if(graph.ops.begin(), graph.ops.end(),
                                 [](const Op& op) { return op.kind == OpKind::Skip || op.kind == OpKind::Exit; });
  return gate == graph.ops.end() ? nullptr : &*gate;
}

}  // namespace tbem::graph
