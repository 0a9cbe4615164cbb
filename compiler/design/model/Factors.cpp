#include "compiler/design/model/Factors.h"

#include <algorithm>
#include <limits>

namespace tbem::design {

double Factor::low() const { return *std::min_element(values.begin(), values.end()); }
double Factor::high() const { return *std::max_element(values.begin(), values.end()); }

double coordinateOf(const Factor& factor, std::uint32_t level) {
  if (factor.nested && level >= factor.levelCount()) return std::numeric_limits<double>::quiet_NaN();
  return factor.numeric() ? factor.values[level] : static_cast<double>(level);
}

Point pointOf(std::span<const Factor> factors, std::span<const std::uint32_t> levelIndices) {
  Point point;
  point.reserve(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) point.push_back(coordinateOf(factors[f], levelIndices[f]));
  return point;
}

std::vector<Point> pointsOf(std::span<const Factor> factors, const Array& array) {
  std::vector<Point> points;
  points.reserve(array.runs);
  for (std::size_t r = 0; r < array.runs; ++r) points.push_back(pointOf(factors, array.row(r)));
  return points;
}

}  // namespace tbem::design
