// Which mixed-level arrays can be built in so many runs. Internal to this folder.
#pragma once

#include "compiler/design/Composite.h"
#include "compiler/design/DifferenceScheme.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tbem::design {

/// The arrays of one strength by their runs, found when asked for and remembered. What each holds is known without building it.
class Catalogue {
public:
  explicit Catalogue(std::uint32_t strength) : strength(strength) {}

  /// The base arrays of so many runs; none is another's part.
  const std::vector<BaseArray>& arrays(std::uint64_t runs);
  /// A composite of so many runs with at least the wanted columns. The search is bounded: nothing does not prove that there is
  /// none.
  std::optional<Composite> find(std::uint64_t runs, const Columns& wanted);

  DifferenceSchemes& differences() { return schemes; }

private:
  const std::vector<Composite>& variants(std::uint64_t runs);
  std::vector<BaseArray> arraysOfStrengthTwo(std::uint64_t runs);
  std::vector<BaseArray> arraysOfHigherStrength(std::uint64_t runs);

  std::uint32_t strength;
  std::size_t effort = 0;  ///< states that all searches have seen
  DifferenceSchemes schemes;
  std::map<std::uint64_t, std::vector<BaseArray>> known;
  std::map<std::uint64_t, std::vector<Composite>> knownVariants;
};

}  // namespace tbem::design
