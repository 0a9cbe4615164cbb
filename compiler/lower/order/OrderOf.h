// What the search for an order (OrderSearch.h) needs to know of a lowered step, and the order that it finds for one.
#pragma once

#include "compiler/lower/order/OrderSearch.h"
#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tbem::estimate {

/// By storage: bytes of its largest buffer; 0 for a value that lives within one loop.
std::vector<std::uint64_t> storedBytes(const graph::Graph& graph, const Program& program);
/// By operator: bytes of its call's workspace.
std::vector<std::uint64_t> workspaceOf(const graph::Graph& graph, const Program& program);

/// What must come in which order, and what lives how long, by the bytes of this program of theirs. `kept`: values that the caller
/// reads after the step.
OrderProblem orderProblem(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& order,
                          const std::vector<graph::TensorId>& kept);

/// An order of the same operators that holds less at once, by the bytes of this program of theirs; empty where none was found.
/// The graph has no gates. `kept`: values that the caller reads after the step. `changed`: as in OrderEffort.
std::vector<graph::OpId> betterOrder(const graph::Graph& graph, const Program& program, const std::vector<graph::OpId>& order,
                                     const std::vector<graph::TensorId>& kept,
                                     const std::function<void(std::size_t)>& changed = {});

}  // namespace tbem::estimate
