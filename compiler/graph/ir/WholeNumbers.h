// Whether an element-wise expression computes whole numbers, so that integer elements can hold its results.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace tbem::graph {

/// What an expression's numbers are read from.
struct NumberSources {
  std::function<bool(std::uint32_t input)> isWhole;             ///< whether this operand's elements are integers or truth values
  std::function<std::optional<Rational>(ExprId value)> scalar;  ///< asked for what reaches the root; nothing: it is not known
};

/// The node from which `root` gets numbers that need not be whole; nothing where it has none. `floor`, a cast, a comparison and
/// logic are whole whatever they read.
std::optional<std::uint32_t> fractionBelow(const Elementwise& expression, std::uint32_t root, const NumberSources& sources);

}  // namespace tbem::graph
