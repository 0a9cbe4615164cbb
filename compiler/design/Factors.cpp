#include "compiler/design/Factors.h"

#include <algorithm>

namespace tbem::design {

double Factor::low() const { return *std::min_element(values.begin(), values.end()); }
double Factor::high() const { return *std::max_element(values.begin(), values.end()); }

Point pointOf(std::span<const Factor> factors, std::span<const std::uint32_t> levelIndices) {
  Point point;
  point.reserve(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const std::uint32_t level = levelIndices[f];
    point.push_back(factors[f].numeric() ? factors[f].values[level] : static_cast<double>(level));
  }
  return point;
}

std::vector<Point> pointsOf(std::span<const Factor> factors, const Array& array) {
  std::vector<Point> points;
  points.reserve(array.runs);
  for (std::size_t r = 0; r < array.runs; ++r) points.push_back(pointOf(factors, array.row(r)));
  return points;
}

}  // namespace tbem::design
