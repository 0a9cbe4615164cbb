// All that is known of an array and its factors, in one value: what `tbemc design` prints.
#pragma once

#include "compiler/design/verify/Aliases.h"
#include "compiler/design/verify/Verify.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

struct Checks {
  std::uint32_t strength = 0;          ///< counted, up to one more than the array promises
  std::optional<Imbalance> imbalance;  ///< the first at the promised strength; nothing for a sound array
  std::vector<std::vector<std::uint64_t>> levelCounts;
  std::size_t duplicateRows = 0;           ///< rows that equal an earlier one
  Coverage pairs;                          ///< pairs of levels of two factors
  std::vector<Rational> wordLengths;       ///< A_0 .. A_4; empty where too costly or a factor is nested
  std::optional<MainEffects> mainEffects;  ///< nothing above 600 parameters
  std::vector<Alias> aliases;              ///< of main effects; for up to 12 factors
  std::vector<Dependence> dependences;
};

/// `factors[i]` belongs to column i. Costs milliseconds for the arrays of an experiment (up to some thousand rows).
Checks checkArray(const std::vector<Factor>& factors, const Array& array);

}  // namespace tbem::design
