// What the elements of a tensor are, where they follow from their indices alone: sums of multiples of indices, and bands along
// the diagonals of two axes, as masks of attention have them. Axes count from the last, which is 0, so that axes that
// broadcasting puts before them change nothing. Internal to compiler/import.
#pragma once

#include "compiler/import/Exported.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace tbem::imports {

/// `start`, and of each axis its step (not 0) times the index along it.
struct Ramp {
  double start = 0;
  std::map<std::size_t, double> steps;

  bool operator==(const Ramp& other) const = default;
};

/// `inside` where `low` <= index along `column` - index along `row` <= `high`, else `outside`. Has one bound at least.
struct Band {
  std::size_t row = 1, column = 0;  ///< row > column
  std::optional<std::int64_t> low, high;
  double inside = 1, outside = 0;

  bool operator==(const Band& other) const = default;
};

using Table = std::variant<Ramp, Band>;

/// By value of the graph; nothing of what is not known.
std::vector<std::optional<Table>> tablesOf(const Exported& exported);

/// The band within so many rows and columns (nothing of those whose number depends on the inputs): a bound that no element is
/// beyond goes, and without bounds it is a number.
Table withinSizes(const Band& band, std::optional<std::int64_t> rows, std::optional<std::int64_t> columns);

/// With the other number inside; of a band with two bounds there is none.
std::optional<Band> turned(const Band& band);

// ---- Parts ---------------------------------------------------------------------------------------------------------------

/// Its number, where it is the same everywhere.
std::optional<double> evenNumber(const Table& table);
/// A function of the elements at equal indices; nothing where the result is no table, or has an element that is no number.
std::optional<Table> overlaid(const std::vector<Table>& operands, const std::function<double(std::span<const double>)>& function);
/// `left` + `factor` * `right`.
std::optional<Table> weightedSum(const Table& left, double factor, const Table& right);
/// Where the ramp, of a tensor of that shape, is at most 0, or below 0 where `strict`: 1 and elsewhere 0.
std::optional<Table> atMostZero(const Ramp& ramp, bool strict, const std::vector<Size>& shape);
/// Of elements that are listed row by row: a band along the last two axes.
std::optional<Table> bandOf(const std::vector<double>& elements, const std::vector<Size>& shape);
/// With axes by others; nothing where an axis that it depends on has none.
std::optional<Table> moved(const Table& table, const std::function<std::optional<std::size_t>(std::size_t)>& axisBy);
/// From this index on along the axis.
Table shifted(const Table& table, std::size_t axis, std::int64_t by);

}  // namespace tbem::imports
