#include "runtime/measure/Quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tbem::measure {

double quantileOfSorted(std::span<const double> sorted, double q) {
  if (sorted.empty() || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double quantile(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantileOfSorted(sorted, q);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

}  // namespace tbem::measure
