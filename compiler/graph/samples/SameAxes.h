// Which dimensions of a graph's tensors count the same things: the samples of a batch, the places of an image, channels. Row i of
// a result is computed at row i of an operand where an operator reads the operand along that dimension.
//
// Sizes do not tell: a batch of 16 images may have 16 channels, or 16 places each.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <vector>

namespace tbem::graph {

struct Axis {
  TensorId tensor = graph::kNoTensor;
  std::size_t dimension = 0;
};

class SameAxes {
public:
  /// `dims`: by tensor. Only `graph`, `values` and `dims` of this call are read.
  SameAxes(const Graph& graph, const sema::Values& values, const std::vector<std::vector<std::int64_t>>& dims);
  /// Whether operators lead from one to the other. Dimensions of 1 are the same as none.
  bool same(Axis a, Axis b) const {
    return root(parent, first[index(a.tensor)] + a.dimension) == root(parent, first[index(b.tensor)] + b.dimension);
  }
  /// Whether operators lead from the rows of one to those of the other, maybe several rows to one: what lies along the first
  /// dimension that is not 1, in order.
  bool sameRows(TensorId a, TensorId b) const { return root(rows, index(a)) == root(rows, index(b)); }

private:
  class Builder;
  static std::size_t root(const std::vector<std::size_t>& forest, std::size_t at);

  std::vector<std::size_t> first;   ///< by tensor: where its dimensions begin in `parent`
  std::vector<std::size_t> parent;  ///< a forest: dimensions of one tree are the same
  std::vector<std::size_t> rows;    ///< a forest of tensors
};

}  // namespace tbem::graph
