// The laws that every finished graph keeps.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <string>
#include <vector>

namespace tbem::graph {

/// What is wrong with a finished graph, in words; empty where nothing is: operands made before use, one producer a tensor, no
/// reader of a storage's old value after its update, storages of equal size shared only by views and updates. Linear.
std::vector<std::string> verify(const Graph& graph);

}  // namespace tbem::graph
