#include "compiler/import/simplify/Tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace tbem::imports {

namespace {

constexpr double kMostBound = 1 << 30;  // of a diagonal; beyond it doubles and sums of bounds are not looked at

std::optional<std::int64_t> boundAt(double number) {
  if (!(std::abs(number) <= kMostBound)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

bool hasSameElements(const Band& one, const Band& other) {
  return one.row == other.row && one.column == other.column && one.low == other.low && one.high == other.high;
}

/// Whether each element inside of `one` is inside of `other`, of the same axes.
bool isWithin(const Band& one, const Band& other) {
  return (!other.low || (one.low && *one.low >= *other.low)) && (!other.high || (one.high && *one.high <= *other.high));
}

/// Elements inside of both.
Band common(const Band& one, const Band& other) {
  Band both = one;
  if (other.low) both.low = std::max(one.low.value_or(*other.low), *other.low);
  if (other.high) both.high = std::min(one.high.value_or(*other.high), *other.high);
  return both;
}

/// The numbers of all operands at an element that is inside of the first band, or not, and of the second.
class Overlay {
public:
  Overlay(const std::vector<Table>& operands, const std::function<double(std::span<const double>)>& function)
      : operands(operands), function(function) {}

  std::optional<Table> table() {
    for (const Table& operand : operands) {
      const Band* const band = std::get_if<Band>(&operand);
      if (band == nullptr) {
        if (!evenNumber(operand)) return std::nullopt;
      } else if (!assign(*band)) {
        return std::nullopt;
      }
    }
    if (bands.empty()) return number(function(numbers({true, true})));
    if (bands.size() == 1) return banded(bands[0], function(numbers({true, true})), function(numbers({false, true})));
    return ofTwo();
  }

private:
  static std::optional<Table> number(double value) {
    if (std::isnan(value)) return std::nullopt;
    return Ramp{value, {}};
  }

  static std::optional<Table> banded(Band band, double inside, double outside) {
    if (std::isnan(inside) || std::isnan(outside)) return std::nullopt;
    if (inside == outside) return Ramp{inside, {}};
    band.inside = inside;
    band.outside = outside;
    return band;
  }

  /// Finds the band among those that are there, perhaps with inside and outside exchanged, or adds it as the first or second.
  bool assign(const Band& band) {
    for (std::size_t k = 0; k < bands.size(); ++k) {
      const std::optional<Band> other = turned(band);
      if (bands[k].row != band.row || bands[k].column != band.column) return false;
      if (hasSameElements(bands[k], band)) return true;
      if (other && hasSameElements(bands[k], *other)) return true;
    }
    if (bands.size() == 2) return false;
    bands.push_back(band);
    return true;
  }

  /// `isInside`: of each of the bands.
  std::vector<double> numbers(std::array<bool, 2> isInside) const {
    std::vector<double> all;
    for (const Table& operand : operands) {
      const Band* const band = std::get_if<Band>(&operand);
      if (band == nullptr) {
        all.push_back(*evenNumber(operand));
        continue;
      }
      for (std::size_t k = 0; k < bands.size(); ++k) {
        const bool isSame = hasSameElements(bands[k], *band);
        const std::optional<Band> other = turned(*band);
        if (!isSame && !(other && hasSameElements(bands[k], *other))) continue;
        all.push_back(isInside[k] == isSame ? band->inside : band->outside);
        break;
      }
    }
    return all;
  }

  /// One number where both are inside, and another everywhere else, whichever side of a band with one bound is called inside.
  std::optional<Table> ofTwo() const {
    for (const std::array<bool, 2> isTurned : {std::array{false, false}, {true, false}, {false, true}, {true, true}}) {
      const std::optional<Band> first = isTurned[0] ? turned(bands[0]) : bands[0];
      const std::optional<Band> second = isTurned[1] ? turned(bands[1]) : bands[1];
      if (!first || !second) continue;
      const auto at = [&](bool inFirst, bool inSecond) {
        return function(numbers({inFirst != isTurned[0], inSecond != isTurned[1]}));
      };
      std::vector<double> elsewhere = {at(false, false)};
      if (!isWithin(*first, *second)) elsewhere.push_back(at(true, false));
      if (!isWithin(*second, *first)) elsewhere.push_back(at(false, true));
      if (std::any_of(elsewhere.begin(), elsewhere.end(), [&](double value) { return value != elsewhere.front(); })) continue;
      return banded(common(*first, *second), at(true, true), elsewhere.front());
    }
    return std::nullopt;
  }

  const std::vector<Table>& operands;
  const std::function<double(std::span<const double>)>& function;
  std::vector<Band> bands;  ///< one or two, of the same axes
};

}  // namespace

std::optional<double> evenNumber(const Table& table) {
  const Ramp* const ramp = std::get_if<Ramp>(&table);
  if (ramp == nullptr || !ramp->steps.empty()) return std::nullopt;
  return ramp->start;
}

std::optional<Band> turned(const Band& band) {
  if (band.low.has_value() == band.high.has_value()) return std::nullopt;
  Band other = band;
  std::swap(other.inside, other.outside);
  other.low = band.high ? std::optional(*band.high + 1) : std::nullopt;
  other.high = band.low ? std::optional(*band.low - 1) : std::nullopt;
  return other;
}

Table withinSizes(const Band& band, std::optional<std::int64_t> rows, std::optional<std::int64_t> columns) {
  Band fitted = band;
  if (fitted.low && rows && *fitted.low <= 1 - *rows) fitted.low.reset();
  if (fitted.high && columns && *fitted.high >= *columns - 1) fitted.high.reset();
  if (!fitted.low && !fitted.high) return Ramp{band.inside, {}};
  return fitted;
}

std::optional<Table> overlaid(const std::vector<Table>& operands,
                              const std::function<double(std::span<const double>)>& function) {
  return Overlay(operands, function).table();
}

std::optional<Table> weightedSum(const Table& left, double factor, const Table& right) {
  const Ramp *const one = std::get_if<Ramp>(&left), *const other = std::get_if<Ramp>(&right);
  if (one == nullptr || other == nullptr)
    return overlaid({left, right}, [factor](std::span<const double> each) { return each[0] + factor * each[1]; });
  Ramp sum = *one;
  sum.start += factor * other->start;
  if (std::isnan(sum.start)) return std::nullopt;
  for (const auto& [axis, step] : other->steps) {
    if ((sum.steps[axis] += factor * step) == 0) sum.steps.erase(axis);
  }
  return sum;
}

std::optional<Table> atMostZero(const Ramp& ramp, bool strict, const std::vector<Size>& shape) {
  double least = ramp.start, most = ramp.start;
  for (const auto& [axis, step] : ramp.steps) {
    if (axis >= shape.size()) return std::nullopt;
    const Size& size = shape[shape.size() - 1 - axis];
    const double last = size.symbolic.empty() ? static_cast<double>(size.number - 1) : std::numeric_limits<double>::infinity();
    (step < 0 ? least : most) += step * last;
  }
  const auto holds = [strict](double number) { return strict ? number < 0 : number <= 0; };
  if (holds(most)) return Ramp{1, {}};
  if (!holds(least)) return Ramp{0, {}};
  if (ramp.steps.size() != 2) return std::nullopt;
  const auto [column, step] = *ramp.steps.begin();
  const auto [row, back] = *ramp.steps.rbegin();
  if (step != -back) return std::nullopt;
  // step * (column - row) + start is at most, or below, 0.
  const double bound = -ramp.start / step;
  Band band{row, column, std::nullopt, std::nullopt, 1, 0};
  if (step > 0)
    band.high = boundAt(strict ? std::ceil(bound) - 1 : std::floor(bound));
  else
    band.low = boundAt(strict ? std::floor(bound) + 1 : std::ceil(bound));
  if (!band.low && !band.high) return std::nullopt;
  return band;
}

std::optional<Table> bandOf(const std::vector<double>& elements, const std::vector<Size>& shape) {
  if (shape.size() < 2 || elements.empty()) return std::nullopt;
  const std::int64_t rows = shape[shape.size() - 2].number, columns = shape.back().number;
  if (static_cast<std::int64_t>(elements.size()) % (rows * columns) != 0) return std::nullopt;
  std::vector<double> diagonals;  // from the lowest
  for (std::int64_t d = 1 - rows; d < columns; ++d)
    diagonals.push_back(elements[static_cast<std::size_t>(d < 0 ? -d * columns : d)]);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const std::int64_t place = static_cast<std::int64_t>(k) % (rows * columns), row = place / columns, column = place % columns;
    if (elements[k] != diagonals[static_cast<std::size_t>(column - row + rows - 1)]) return std::nullopt;
  }
  // One run of a number within another, or behind it.
  std::vector<std::size_t> changes;
  for (std::size_t k = 1; k < diagonals.size(); ++k) {
    if (diagonals[k] != diagonals[k - 1]) changes.push_back(k);
  }
  if (changes.empty() || changes.size() > 2 || (changes.size() == 2 && diagonals.front() != diagonals.back()))
    return std::nullopt;
  const auto diagonal = [rows](std::size_t k) { return static_cast<std::int64_t>(k) + 1 - rows; };
  Band band{1, 0, diagonal(changes[0]), std::nullopt, diagonals[changes[0]], diagonals.front()};
  if (changes.size() == 2) band.high = diagonal(changes[1]) - 1;
  return band;
}

std::optional<Table> moved(const Table& table, const std::function<std::optional<std::size_t>(std::size_t)>& axisBy) {
  if (const Ramp* const ramp = std::get_if<Ramp>(&table)) {
    Ramp result{ramp->start, {}};
    for (const auto& [axis, step] : ramp->steps) {
      const std::optional<std::size_t> by = axisBy(axis);
      if (!by) return std::nullopt;
      result.steps[*by] = step;
    }
    return result;
  }
  Band band = std::get<Band>(table);
  const std::optional<std::size_t> row = axisBy(band.row), column = axisBy(band.column);
  if (!row || !column || *row == *column) return std::nullopt;
  band.row = *row;
  band.column = *column;
  if (band.row < band.column) {  // row - column lies between the bounds with their signs exchanged
    std::swap(band.row, band.column);
    std::swap(band.low, band.high);
    for (std::optional<std::int64_t>* const bound : {&band.low, &band.high}) {
      if (*bound) **bound = -**bound;
    }
  }
  return band;
}

Table shifted(const Table& table, std::size_t axis, std::int64_t by) {
  if (const Ramp* const ramp = std::get_if<Ramp>(&table)) {
    Ramp result = *ramp;
    const auto step = ramp->steps.find(axis);
    if (step != ramp->steps.end()) result.start += step->second * static_cast<double>(by);
    return result;
  }
  Band band = std::get<Band>(table);
  const std::int64_t change = axis == band.row ? by : axis == band.column ? -by : 0;
  for (std::optional<std::int64_t>* const bound : {&band.low, &band.high}) {
    if (*bound) **bound += change;
  }
  return band;
}

}  // namespace tbem::imports
