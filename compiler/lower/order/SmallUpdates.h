// Updates of small weights, and of running statistics, behind all others, so that a card runs many of them in one launch
// (jit/glue/LoopGroups.h). What they read lives until then; an update of a large weight stays where its gradient dies at once.
#pragma once

#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

/// `order`, one of schedule's, with those element-wise operators at its end that are of an optimiser or write what outlives the
/// step, have results of at most 16 Ki elements each, and that no other operator must follow. `dims`: by tensor.
std::vector<graph::OpId> smallUpdatesLast(const graph::Graph& graph, const graph::Branches& branches,
                                          const std::vector<std::vector<std::int64_t>>& dims, std::vector<graph::OpId> order);

}  // namespace tbem::estimate
