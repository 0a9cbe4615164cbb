// The order of a graph's operators, and walks over them: the one place that goes into the arms of gates.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <vector>

namespace tbem::graph {

/// An arm of a gate.
struct Arm {
  OpId gate;
  std::size_t position;  ///< among the gate's arms
  RegionId region;
  bool isLast;  ///< of the gate's
};

/// Visits all operators in program order, those of a gate's arms behind the gate: `visit(op)` each, and around those of an arm
/// `enter(arm)` and `leave(arm)`. Arms nest as deep as the program's `skip`s, which the parser bounds.
template <class Visitor>
void walk(const Graph& graph, Visitor& visitor, RegionId region = kMainRegion) {
  for (const OpId op : graph[region].ops) {
    visitor.visit(op);
    const std::vector<RegionId>& arms = graph[op].regions;
    for (std::size_t position = 0; position < arms.size(); ++position) {
      const Arm arm{op, position, arms[position], position + 1 == arms.size()};
      visitor.enter(arm);
      walk(graph, visitor, arm.region);
      visitor.leave(arm);
    }
  }
}

struct Placed {
  OpId op;
  int depth;           ///< so many arms of gates enclose it
  bool isConditional;  ///< in an arm, or behind an exit: some samples may never come there
};
/// All operators in program order.
std::vector<Placed> inOrder(const Graph& graph);
/// The same, without their places.
std::vector<OpId> programOrder(const Graph& graph);

/// The first operator that decides by sample, a `skip` or an `exit`. nullptr: there are no gates.
const Op* firstGate(const Graph& graph);

}  // namespace tbem::graph
