// The numbers that a primitive takes beside tensors.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::graph {

/// The operator's attributes as the primitive's row lists them. A list (`axis[*]`) is preceded by its length, which the ranks
/// of the first input and the first result tell: axes that are dropped, or one number a dimension. `wrong`: what is, in words.
std::vector<std::int64_t> flattenAttributes(const Op& op, const sema::Values& values, std::size_t inputRank,
                                            std::size_t outputRank, std::string& wrong);

/// The same. `dims`: by tensor.
std::vector<std::int64_t> flattenAttributes(const Op& op, const sema::Values& values,
                                            const std::vector<std::vector<std::int64_t>>& dims, std::string& wrong);

}  // namespace tbem::graph
