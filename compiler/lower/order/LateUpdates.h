// Updates of weights, and of running statistics, behind all other operators, so that a card runs many of them in one launch
// (jit/glue/LoopGroups.h). What they read lives until then.
#pragma once

#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/ir/Graph.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

/// Whether an operator is element-wise, and of an optimiser or writes nothing but what outlives the step. What each of several
/// micro-batches does is no update.
bool isUpdate(const graph::Graph& graph, graph::OpId id);

/// `order`, one of schedule's, with those updates for all samples at its end that have results of at most 16 Ki elements each,
/// and that no other operator must follow. `dims`: by tensor.
std::vector<graph::OpId> smallUpdatesLast(const graph::Graph& graph, const graph::Branches& branches,
                                          const std::vector<std::vector<std::int64_t>>& dims, std::vector<graph::OpId> order);

/// The same for updates of any size, as far as no more is live at once than in `order`, by the bytes that values have in
/// `program`; the latest go first, since their gradients live on for the shortest time. Empty where none can wait. The graph has
/// no gates. `kept`: values that the caller reads after the step.
std::vector<graph::OpId> updatesLast(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& order,
                                     const std::vector<graph::TensorId>& kept);

}  // namespace tbem::estimate
