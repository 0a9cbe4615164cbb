// How many floating-point operations a row takes, and how many numbers it learns. Closed sums over the declarations' `flops`:
// nothing is run, and the sums are 128 bits wide.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <tl/expected.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::estimate {

using Count = unsigned __int128;
std::string toString(Count count);
double toDouble(Count count);

struct Convention;  // Conventions.h

struct PhaseCounts {
  Count forward = 0, backward = 0, optimizer = 0;
  Count recomputed = 0;  ///< of forward operators that the backward pass repeats (Recompute.h)
  Count step() const { return forward + backward + optimizer + recomputed; }
};

/// By declaration. The cost of a gradient is counted under the operator whose gradient it is.
struct OperatorCounts {
  Count forward = 0, backward = 0, optimizer = 0;
  Count macForward = 0, macBackward = 0;  ///< 2 x multiply-adds alone
  Count recomputed = 0;
  bool none() const { return (forward | backward | optimizer | macForward | macBackward | recomputed) == 0; }
};

struct Flops {
  PhaseCounts most;                                  ///< every arm's largest, no exit taken
  PhaseCounts least;                                 ///< every arm's smallest, first exit taken
  bool gated = false;                                ///< there are gates: `least` and `most` may differ
  std::map<std::string, OperatorCounts> byOperator;  ///< all regions together
  std::vector<Count> byBranch;                       ///< by graph::Branches::list: of its own operators, for all of its samples
  std::vector<std::int64_t> samples;                 ///< likewise: that could be in it; 0 for the first, which is the batch
  std::int64_t parameters = 0;                       ///< learned numbers
  std::int64_t buffers = 0;                          ///< running statistics
};

/// A number of the graph that has no value in the row, in words, and where it stands.
struct NoValue {
  std::string what;
  SrcRange range;
};

tl::expected<Flops, NoValue> countFlops(const graph::Graph& graph, const sema::Values& values, const Convention& convention);
/// By the convention `full`.
tl::expected<Flops, NoValue> countFlops(const graph::Graph& graph, const sema::Values& values);

/// FLOPs of these operators alone (what they own, the arms of a gate, is not counted), by the convention `full`.
tl::expected<Count, NoValue> countFlops(const graph::Graph& graph, const sema::Values& values, std::span<const graph::OpId> ops);

/// The dims of a tensor in a row.
tl::expected<std::vector<std::int64_t>, NoValue> dimsOf(const graph::Graph& graph, const sema::Values& values,
                                                        graph::TensorId tensor);

}  // namespace tbem::estimate
