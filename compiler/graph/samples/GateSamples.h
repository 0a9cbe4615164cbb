// What the gates of a network decide about: samples of the batch, or others, such as the places of an image.
#pragma once

#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/samples/SameAxes.h"

#include <cstdint>
#include <vector>

namespace tbem::graph {

struct GateSamples {
  std::int64_t batch = 0;  ///< samples that a step has
  struct InBranch {
    std::int64_t samples = 0;  ///< that could be in it
    /// How many of them each sample of the batch has, one behind the other: 1 where they are those, 0 where they are no sample's
    /// (computed over the batch).
    std::int64_t ofEachSample = 0;
    bool ofBatch() const { return ofEachSample == 1; }
  };
  std::vector<InBranch> branches;  ///< by Branches::list
  std::vector<TensorId> inputs;    ///< those with a row for each sample
  std::vector<std::int64_t> rows;  ///< by tensor: rows that each sample has in it, one behind the other; 0: none, or unknown
};

/// The batch is what the exits decide about; without them, the first input's rows, where a `skip` decides about those; else what
/// the first `skip` does that decides about rows of an input; else, as where all decide about others, the first input's rows.
/// What stands within a gate decides about what that gate does. `dims`: by tensor. The branches are more than the first.
GateSamples gateSamples(const Graph& graph, const sema::Values& values, const Branches& branches, const SameAxes& axes,
                        const std::vector<std::vector<std::int64_t>>& dims);
/// The same of a graph whose dimensions have values.
GateSamples gateSamples(const Graph& graph, const sema::Values& values, const Branches& branches);

}  // namespace tbem::graph
