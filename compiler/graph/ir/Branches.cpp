#include "compiler/graph/ir/Branches.h"

#include "compiler/graph/ir/Walk.h"

namespace tbem::graph {

namespace {
/// Gives every operator that it visits its branch.
class Brancher {
public:
  Brancher(const Graph& graph, Branches& out) : graph(graph), out(out) {}

  void visit(OpId id) {
    const Op& op = graph[id];
    Open& here = open.back();
    const bool joinsExits = op.kind == OpKind::Join && op.gate == kNoOp;
    if (joinsExits) here.branch = here.outer;
    out.of[index(id)] = here.branch;
    if (op.kind != OpKind::Skip && op.kind != OpKind::Exit) return;
    out.whereFalse[index(id)] = add(here.branch, id, false);
    out.whereTrue[index(id)] = add(here.branch, id, true);
    if (op.kind == OpKind::Exit) here.branch = out.whereFalse[index(id)];
  }
  void enter(const Arm& arm) {
    const std::uint32_t branch = (arm.position == 0 ? out.whereFalse : out.whereTrue)[index(arm.gate)];
    open.push_back({branch, branch});
  }
  void leave(const Arm&) { open.pop_back(); }

private:
  std::uint32_t add(std::uint32_t parent, OpId gate, bool condition) {
    out.list.push_back({parent, gate, condition});
    return static_cast<std::uint32_t>(out.list.size() - 1);
  }

  const Graph& graph;
  Branches& out;
  struct Open {
    std::uint32_t outer;   ///< of the region's first operator
    std::uint32_t branch;  ///< of its next
  };
  std::vector<Open> open{{kAllSamples, kAllSamples}};  ///< the regions around what is visited
};
}  // namespace

Branches branchesOf(const Graph& graph) {
  Branches branches;
  branches.list.push_back({});
  branches.of.assign(graph.ops.size(), kAllSamples);
  branches.whereFalse.assign(graph.ops.size(), kAllSamples);
  branches.whereTrue.assign(graph.ops.size(), kAllSamples);
  Brancher brancher(graph, branches);
  walk(graph, brancher);
  return branches;
}

}  // namespace tbem::graph
