#include "compiler/graph/ir/Branches.h"

namespace tbem::graph {

namespace {
struct Walk {
  const Graph& graph;
  Branches& out;

  std::uint32_t add(std::uint32_t parent, OpId gate, bool condition) {
    out.list.push_back({parent, gate, condition});
    return static_cast<std::uint32_t>(out.list.size() - 1);
  }

  /// Regions nest as deep as the program's `skip`s, which the parser bounds.
  void region(RegionId id, std::uint32_t branch) {
    const std::uint32_t outer = branch;
    for (const OpId op : graph[id].ops) {
      const Op& one = graph[op];
      const bool joinsExits = one.kind == OpKind::Join && one.gate == kNoOp;
      if (joinsExits) branch = outer;
      out.of[index(op)] = branch;
      if (one.kind != OpKind::Skip && one.kind != OpKind::Exit) continue;
      const std::uint32_t otherwise = out.whereFalse[index(op)] = add(branch, op, false);
      const std::uint32_t taken = out.whereTrue[index(op)] = add(branch, op, true);
      if (one.kind == OpKind::Exit) {
        branch = otherwise;
      } else {
        region(one.regions[0], otherwise);
        region(one.regions[1], taken);
      }
    }
  }
};
}  // namespace

Branches branchesOf(const Graph& graph) {
  Branches branches;
  branches.list.push_back({});
  branches.of.assign(graph.ops.size(), kAllSamples);
  branches.whereFalse.assign(graph.ops.size(), kAllSamples);
  branches.whereTrue.assign(graph.ops.size(), kAllSamples);
  Walk{graph, branches}.region(kMainRegion, kAllSamples);
  return branches;
}

}  // namespace tbem::graph
