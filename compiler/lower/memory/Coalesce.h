// Copies that a join need not make: where a value may as well be made, or stay, in the place to which it would be copied.
//
// With one sample, only one arm of a gate runs, so the values of both arms and the result can share one place although their
// lifetimes overlap in the order of steps. With more, this holds where each arm touches its own rows only: the arm that leaves
// samples as they are finds them in their places already.
#pragma once

#include "compiler/graph/ir/Branches.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

/// A step reads or writes a memory.
struct MemoryUse {
  std::uint32_t step = 0;
  std::uint32_t branch = 0;
  bool sameElement = false;  ///< a loop that touches it at the element that is computed only
  bool rowsOnly = false;     ///< touches the rows of the branch's samples only
};

/// A step that copies all (or, behind a gate, its rows) of one memory to the same places of another.
struct CopyStep {
  std::uint32_t step = 0, branch = 0;
  std::uint32_t from = 0, to = 0;
};

/// Whether the memories of the copy may be one. `from`, `to`: all uses of each, in order, those of the copy among them.
/// `samplesIn`: by branch, the samples that could be in it.
bool mayCoalesce(const graph::Branches& branches, const CopyStep& copy, const std::vector<MemoryUse>& from,
                 const std::vector<MemoryUse>& to, const std::vector<std::int64_t>& samplesIn);

}  // namespace tbem::estimate
