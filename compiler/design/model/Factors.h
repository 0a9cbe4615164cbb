// Factors with their levels' meaning: what turns an array of indices into points of an experiment.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::design {

struct Factor {
  std::string name;
  std::vector<double> values;       ///< level values in the order declared; empty: a categorical factor
  std::vector<std::string> labels;  ///< level texts in the order declared
  std::optional<Nested> nested;     ///< where it exists; nothing: in every row

  bool numeric() const { return !values.empty(); }
  std::size_t levelCount() const { return numeric() ? values.size() : labels.size(); }
  double low() const;  ///< smallest value (numeric only)
  double high() const;
};

/// One number a factor: the value of a numeric factor, the level's index of a categorical one; not a number where a nested factor
/// does not exist.
using Point = std::vector<double>;

double coordinateOf(const Factor& factor, std::uint32_t level);
Point pointOf(std::span<const Factor> factors, std::span<const std::uint32_t> levelIndices);
std::vector<Point> pointsOf(std::span<const Factor> factors, const Array& array);

}  // namespace tbem::design
