// Scaled dot-product attention that a backend computes as one operator, without the matrix of scores: found in a graph in which
// it is products, element-wise operators and softmax (stdlib/nn/attention.tbem), and its gradient theirs.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/lower/Query.h"

#include <map>
#include <optional>
#include <vector>

namespace tbem::estimate {

/// A graph with such operators. Ids are those of the graph that it was made of: an attention has the place of its last product,
/// its gradient that of softmax's, and the logarithms of sums are what softmax's weights were. Their parts are in no region any
/// more.
struct WithAttention {
  graph::Graph graph;
  /// By such an operator: those of the other graph that it computes, itself among them.
  std::map<graph::OpId, std::vector<graph::OpId>> standsFor;
};

/// Nothing where there is none, or the backend has none for it. Both directions are taken together or not at all, and only where
/// nobody else reads a value between; with dropout, another mask than the causal one, gates or values that are computed again
/// (`checkpoint`) an attention stays as it is.
std::optional<WithAttention> withAttention(const graph::Graph& graph, const sema::Values& values, const tbem_backend& backend,
                                           const std::vector<graph::TensorId>& kept, QueryCache& cache);

}  // namespace tbem::estimate
