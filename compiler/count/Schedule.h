// The order in which a step's operators run.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <tl/expected.hpp>

#include <vector>

namespace tbem::estimate {

/// A value that is overwritten while an operator still needs it, whatever the order.
struct Overwritten {
  graph::TensorId value{};
  graph::OpId reader{};
};

/// What a step hands to its caller: the outputs of inference, the loss, gradients that were asked for (Graph::wanted).
std::vector<graph::TensorId> returnedBy(const graph::Graph& graph);

/// Operators that matter for `wanted` or write a persistent storage, and gates, in program order, but for two things:
/// an update runs as soon as what it needs is there (a gradient then dies at once), and never before the last reader of the
/// value that it overwrites. Where gradients are accumulated, updates come behind all other operators.
tl::expected<std::vector<graph::OpId>, Overwritten> schedule(const graph::Graph& graph,
                                                             const std::vector<graph::TensorId>& wanted);

/// Of an order of `schedule`'s: how many operators each micro-batch runs; the others run once, behind them.
std::size_t repeatedOps(const graph::Graph& graph, const std::vector<graph::OpId>& order);

/// By place in `order`, which is one of `schedule`'s: the places of operators that must run later.
std::vector<std::vector<std::uint32_t>> mustFollow(const graph::Graph& graph, const std::vector<graph::OpId>& order);

}  // namespace tbem::estimate
