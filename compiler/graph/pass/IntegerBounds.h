// Which integers an input may hold, so that stand-in data can be drawn for it.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <vector>

namespace tbem::graph {

/// By tensor: b where it is read as numbers below b (0: not known). The smallest wins: the classes of a cross entropy, the length
/// of the axis that a gather indexes, the dimension along which a coordinate is compared with it. Through views and operators
/// that only move elements the range of a result is that of its operands.
std::vector<std::int64_t> integerBounds(const Graph& graph, const sema::Values& values);

}  // namespace tbem::graph
