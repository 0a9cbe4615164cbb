#include "compiler/design/verify/Checks.h"

#include <algorithm>

namespace tbem::design {

namespace {

/// The largest strength up to `limit` such that counting it and each lower one costs at most 1e9 cell visits.
std::uint32_t affordable(const Array& array, std::uint32_t limit) {
  double cost = static_cast<double>(array.runs);
  std::uint32_t t = 0;
  while (t < limit && t < array.columns()) {
    cost *= static_cast<double>(array.columns() - t) / (t + 1.0);
    if (cost * (t + 1.0) > 1e9) break;
    ++t;
  }
  return t;
}

}  // namespace

Checks checkArray(const std::vector<Factor>& factors, const Array& array) {
  Checks checks;
  checks.imbalance = findImbalance(array, array.strength);
  const auto varying =
      static_cast<std::size_t>(std::count_if(array.levels.begin(), array.levels.end(), [](std::uint32_t s) { return s > 1; }));
  const bool askMore = array.strength < varying && affordable(array, array.strength + 1) > array.strength;
  checks.strength = checks.imbalance                                       ? measuredStrength(array, array.strength)
                    : askMore && !findImbalance(array, array.strength + 1) ? array.strength + 1
                                                                           : array.strength;
  checks.levelCounts = levelCounts(array);
  for (const auto& group : duplicateRows(array)) checks.duplicateRows += group.size() - 1;
  if (affordable(array, 2) == 2) checks.pairs = coverage(array, 2);
  if (array.nested.empty() &&
      static_cast<double>(array.runs) * static_cast<double>(array.runs) * static_cast<double>(array.columns()) < 1e8) {
    checks.wordLengths = wordLengthPattern(array, 4).value_or(std::vector<Rational>{});
  }
  std::size_t parameters = 1;
  for (std::uint32_t c = 0; c < array.columns(); ++c) parameters += valuesOf(array, c) - 1;
  if (parameters <= 600 && array.runs > 0) checks.mainEffects = mainEffects(array);
  std::vector<std::string> names;
  names.reserve(factors.size());
  for (const Factor& factor : factors) names.push_back(factor.name);
  if (array.runs <= 2000) checks.aliases = mainEffectAliases(array, names, 12);
  checks.dependences = dependences(factors, pointsOf(factors, array));
  return checks;
}

}  // namespace tbem::design
