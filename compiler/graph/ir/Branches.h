// Which samples an operator is computed for. The gates of a network form a tree of branches: branch 0 is all samples; a `skip`
// has two below the branch that it stands in, the samples whose arm is computed and those that are left; an `exit` has two, the
// samples that go on and those that leave.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <vector>

namespace tbem::graph {

constexpr std::uint32_t kAllSamples = 0;

struct Branch {
  std::uint32_t parent = kAllSamples;
  OpId gate = kNoOp;       ///< kNoOp: all samples
  bool condition = false;  ///< the gate's condition in this branch: true for those that a skip leaves, or that exit
};

struct Branches {
  std::vector<Branch> list;               ///< a parent before its children
  std::vector<std::uint32_t> of;          ///< by operator: the branch in which it is computed; a gate stands in its parent's
  std::vector<std::uint32_t> whereFalse;  ///< by operator: a gate's branch where its condition is false; 0 for others
  std::vector<std::uint32_t> whereTrue;
  bool gated() const { return list.size() > 1; }
  /// `inner` is `outer` or below it.
  bool contains(std::uint32_t outer, std::uint32_t inner) const {
    while (inner > outer) inner = list[inner].parent;
    return inner == outer;
  }
  /// No sample is in both: they part at one gate. Branches of gates that decide apart share samples.
  bool exclusive(std::uint32_t a, std::uint32_t b) const {
    if (contains(a, b) || contains(b, a)) return false;
    while (!contains(list[a].parent, b)) a = list[a].parent;
    while (list[b].parent != list[a].parent) b = list[b].parent;
    return list[a].gate == list[b].gate;
  }
};

/// The branches of a graph, in program order.
Branches branchesOf(const Graph& graph);

}  // namespace tbem::graph
