// What constraints say without saying it: levels and combinations that no valid row holds.
#pragma once

#include "compiler/design/rows/ValidRows.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::design {

/// Levels that no valid row holds, ascending. Needs a valid row. Costs a search for each level that stands in a combination.
std::vector<Literal> deadLevels(ValidRows& valid);

struct Implied {
  std::vector<Literal> dead;         ///< levels in no valid row, ascending
  std::vector<Combination> pairs;    ///< of levels that are not dead, in no valid row
  std::vector<Combination> triples;  ///< without any of the above, in no valid row
  bool triplesCounted = true;        ///< false: there are too many candidates to ask for each
};

/// Needs a valid row. Costs a search for every pair of levels of connected factors, and for every triple up to `mostTriples`.
Implied impliedBy(ValidRows& valid, std::uint64_t mostTriples = 100'000);

/// Which of `parts` (each by its own forbidden combinations, over the same levels) forbid these levels together: a smallest such
/// choice in the sense that none of it can be missed. `literals` empty: which of them leave no row.
std::vector<std::size_t> culprits(const std::vector<Constraints>& parts, const Combination& literals);

}  // namespace tbem::design
