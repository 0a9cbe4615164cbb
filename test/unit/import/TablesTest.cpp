// What tensors are, where their elements follow from their indices: bands along diagonals, as masks of attention have them.
#include "compiler/import/simplify/Tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace tbem::imports {
namespace {

double elementOf(const Table& table, std::int64_t row, std::int64_t column) {
  if (const Band* const band = std::get_if<Band>(&table)) {
    const std::int64_t diagonal = column - row;
    return (band->low && diagonal < *band->low) || (band->high && diagonal > *band->high) ? band->outside : band->inside;
  }
  double sum = std::get<Ramp>(table).start;
  for (const auto& [axis, step] : std::get<Ramp>(table).steps) sum += step * static_cast<double>(axis == 0 ? column : row);
  return sum;
}

/// Of one bound or two, and perhaps with numbers that are hidden.
Band anyBand(std::mt19937& random) {
  std::uniform_int_distribution<int> bound(-4, 4), which(0, 2), number(-1, 1);
  Band band{1, 0, std::nullopt, std::nullopt, static_cast<double>(number(random)), static_cast<double>(number(random))};
  const int sides = which(random);
  if (sides != 0) band.low = bound(random);
  if (sides != 1) band.high = std::max<std::int64_t>(bound(random), band.low.value_or(-4));
  return band;
}

TEST(ElementTables, OverlaidAreTheFunctionOfEachElement) {
  std::mt19937 random(7);
  constexpr std::int64_t kRows = 7, kColumns = 6;
  const std::vector<std::function<double(std::span<const double>)>> functions = {
      [](std::span<const double> each) { return each[0] != 0 && each[1] != 0 ? 1.0 : 0.0; },
      [](std::span<const double> each) { return each[0] != 0 || each[1] != 0 ? 1.0 : 0.0; },
      [](std::span<const double> each) { return each[0] + each[1]; },
      [](std::span<const double> each) { return each[0] != 0 ? each[1] : -5; }};
  std::size_t known = 0;
  for (int k = 0; k < 4000; ++k) {
    const Band left = anyBand(random), right = anyBand(random);
    const auto& function = functions[static_cast<std::size_t>(k) % functions.size()];
    const std::optional<Table> both = overlaid({left, right}, function);
    if (!both) continue;
    ++known;
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        const std::vector<double> each = {elementOf(left, row, column), elementOf(right, row, column)};
        EXPECT_EQ(elementOf(*both, row, column), function(each)) << row << " " << column << ", case " << k;
      }
    }
  }
  EXPECT_GT(known, 1000U);
}

TEST(ElementTables, OfComparedRangesAreBands) {
  const std::vector<Size> shape = {{5, ""}, {9, ""}};
  for (const double step : {1.0, 2.0, -0.5}) {
    for (double start = -12; start < 12; start += 0.75) {
      for (const bool strict : {false, true}) {
        const Ramp ramp{start, {{0, step}, {1, -step}}};
        const std::optional<Table> table = atMostZero(ramp, strict, shape);
        ASSERT_TRUE(table);
        for (std::int64_t row = 0; row < 5; ++row) {
          for (std::int64_t column = 0; column < 9; ++column) {
            const double element = elementOf(Table(ramp), row, column);
            EXPECT_EQ(elementOf(*table, row, column), (strict ? element < 0 : element <= 0) ? 1 : 0) << start << " " << step;
          }
        }
      }
    }
  }
}

// Whatever the first size is, index 0 is in the range; nothing more is known of the others.
TEST(ElementTables, OfOpenSizesHoldForAllSizes) {
  const std::vector<Size> open = {{5, "s0"}};
  EXPECT_EQ(atMostZero({-3, {{0, 1}}}, false, open), std::nullopt);
  EXPECT_EQ(atMostZero({3, {{0, 1}}}, false, open), Table(Ramp{0, {}}));
  EXPECT_EQ(atMostZero({0, {{0, -1}}}, false, open), Table(Ramp{1, {}}));
  EXPECT_EQ(atMostZero({-3, {{0, 1}}}, true, {{3, ""}}), Table(Ramp{1, {}}));
}

TEST(ElementTables, OfListedElementsAreBands) {
  const double hidden = -std::numeric_limits<double>::infinity();
  const std::vector<Size> square = {{1, ""}, {3, ""}, {3, ""}};
  const std::optional<Table> causal = bandOf({0, hidden, hidden, 0, 0, hidden, 0, 0, 0}, square);
  ASSERT_TRUE(causal);
  EXPECT_EQ(turned(std::get<Band>(*causal)), (Band{1, 0, std::nullopt, 0, 0, hidden}));
  EXPECT_EQ(bandOf({1, 0, 0, 0, 1, 0, 0, 0, 1}, square), Table(Band{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(bandOf({1, 0, 0, 0, 1, 0, 0, 0, 0}, square), std::nullopt);
  EXPECT_EQ(bandOf({1, 2, 3, 4, 1, 2, 5, 4, 1}, square), std::nullopt);
}

TEST(ElementTables, WithinSizesHaveNoBoundsThatNothingIsBeyond) {
  const Band window{1, 0, -7, 0, 1, 0};
  EXPECT_EQ(withinSizes(window, 8, 8), Table(Band{1, 0, std::nullopt, 0, 1, 0}));
  EXPECT_EQ(withinSizes(window, 9, 9), Table(window));
  EXPECT_EQ(withinSizes(window, std::nullopt, 8), Table(window));
  EXPECT_EQ(withinSizes(window, 8, 1), Table(Ramp{1, {}}));
}

TEST(ElementTables, MoveWithTheirAxes) {
  const Band band{1, 0, std::nullopt, 2, 1, 0};
  const auto exchanged = [](std::size_t axis) { return std::optional(1 - axis); };
  EXPECT_EQ(moved(band, exchanged), Table(Band{1, 0, -2, std::nullopt, 1, 0}));
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 0; column < 4; ++column) {
      EXPECT_EQ(elementOf(shifted(band, 1, 2), row, column), elementOf(Table(band), row + 2, column));
      EXPECT_EQ(elementOf(shifted(band, 0, 3), row, column), elementOf(Table(band), row, column + 3));
    }
  }
}

}  // namespace
}  // namespace tbem::imports
