// The order of a graph's operators.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <vector>

namespace tbem::graph {

struct Placed {
  OpId op;
  int depth;  ///< so many arms of gates enclose it
};
/// All operators in program order, those of a gate's arms behind the gate.
std::vector<Placed> inOrder(const Graph& graph);
/// The same, without their depths.
std::vector<OpId> programOrder(const Graph& graph);

}  // namespace tbem::graph
