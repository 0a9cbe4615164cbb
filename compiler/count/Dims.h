// The dims of a row's tensors, many of them at a time.
#pragma once

#include "compiler/count/Flops.h"

#include <optional>
#include <vector>

namespace tbem::estimate {

/// As dimsOf, into `dims`, whose memory is used again; nothing where it succeeds.
std::optional<NoValue> readDims(const graph::Graph& graph, const sema::Values& values, graph::TensorId tensor,
                                std::vector<std::int64_t>& dims);

}  // namespace tbem::estimate
