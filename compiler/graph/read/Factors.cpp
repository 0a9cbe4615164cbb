// The factors of an experiment, and which exist at some levels.
#include "compiler/graph/elaborate/Elaborate.h"

#include <algorithm>

namespace tbem::graph {

std::optional<std::uint32_t> ExperimentSpec::find(std::string_view factor) const {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i].name == factor) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> ExperimentSpec::misplaced(std::span<const std::uint32_t> levels) const {
  for (std::uint32_t f = 0; f < factors.size(); ++f) {
    const FactorSpec& factor = factors[f];
    if (!factor.parent) continue;
    const bool exists = std::binary_search(factor.parentLevels.begin(), factor.parentLevels.end(), levels[*factor.parent]);
    if (exists != active(f, levels)) return f;
  }
  return std::nullopt;
}

bool InputSpec::counts(std::span<const std::uint32_t> levels) const {
  return !parent || std::binary_search(parentLevels.begin(), parentLevels.end(), levels[*parent]);
}

bool FactorSpec::numeric() const {
  const auto real = values();
  return std::all_of(real.begin(), real.end(), [](const Level& level) { return level.number.has_value(); });
}

}  // namespace tbem::graph
