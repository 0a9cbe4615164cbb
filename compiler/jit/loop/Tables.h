// What a loop computes once for all its rows.
//
// In channels last the innermost variable is the channel: a normalisation's 1 / sqrt(variance + eps) depends on nothing else, and
// no loop around it keeps it in a register. Such values, where they take long, are put into a table before the rows begin.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/loop/Types.h"

#include <cstdint>
#include <vector>

namespace tbem::jit {

struct Tables {
  std::vector<std::uint32_t> nodes;  ///< tabulated: floating, varying along the innermost variable alone; at most four
  std::vector<bool> before;          ///< by node: computed for the tables
  std::vector<bool> body;            ///< by node: computed at every place, or taken from a table
};

/// No nodes where tables would not pay: short loops, rows in chunks, places that are items of their own, more than 2048 places in
/// a row, padded layouts.
Tables findTables(const LoopNest& nest, const std::vector<NodeType>& types);

}  // namespace tbem::jit
