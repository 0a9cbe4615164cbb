#include "compiler/design/verify/Verify.h"

#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/field/Hadamard.h"
#include "compiler/design/field/RaoHamming.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace tbem;
using namespace tbem::design;

namespace {

std::vector<Rational> pattern(std::initializer_list<std::pair<int, int>> values) {
  std::vector<Rational> out;
  for (const auto& [n, d] : values) out.push_back(*Rational::make(n, d));
  return out;
}

/// Taguchi's L18(2^1 3^7) as printed in textbooks (Phadke 1989, appendix C), levels from 0.
Array l18() {
  const char* rows[] = {"00000000", "00111111", "00222222", "01001122", "01112200", "01220011",
                        "02010212", "02121020", "02202101", "10022110", "10100221", "10211002",
                        "11012021", "11120102", "11201210", "12021201", "12102012", "12210120"};
  Array array;
  array.levels = {2, 3, 3, 3, 3, 3, 3, 3};
  array.runs = 18;
  for (const char* row : rows) {
    for (int c = 0; c < 8; ++c) array.cells.push_back(static_cast<std::uint32_t>(row[c] - '0'));
  }
  return array;
}

}  // namespace

// Weight distributions of the dual codes: the tetracode [4,2,3] over GF(3), the MDS code [5,3,3] over GF(4) (MacWilliams and
// Sloane, ch. 11).
TEST(WordLength, LinearArrays) {
  EXPECT_EQ(*wordLengthPattern(*raoHamming(3, 2, 4, 100), 4), pattern({{1, 1}, {0, 1}, {0, 1}, {8, 1}, {0, 1}}));
  EXPECT_EQ(*wordLengthPattern(*raoHamming(4, 2, 5, 100), 5), pattern({{1, 1}, {0, 1}, {0, 1}, {30, 1}, {15, 1}, {18, 1}}));
}

// Plackett and Burman's 12 runs: every triple and quadruple of columns has |J| = 4, so A_3 = 165 / 9 and A_4 = 330 / 9.
TEST(WordLength, PlackettBurmanTwelve) {
  EXPECT_EQ(*wordLengthPattern(*hadamardArray(12, 11), 4), pattern({{1, 1}, {0, 1}, {0, 1}, {55, 3}, {110, 3}}));
}

TEST(Verify, TextbookL18HasStrengthTwo) {
  const Array array = l18();
  EXPECT_FALSE(findImbalance(array, 2).has_value());
  EXPECT_EQ(measuredStrength(array, 8), 2U);
  const auto found = findImbalance(array, 3);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->columns.size(), 3U);
}

TEST(Verify, CorruptionIsFound) {
  Array array = l18();
  array.at(4, 6) = (array.at(4, 6) + 1) % 3;
  const auto found = findImbalance(array, 2);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->columns, (std::vector<std::uint32_t>{6}));
  EXPECT_EQ(found->expected, Rational::of(6));
  array.at(4, 6) = 3;
  ASSERT_TRUE(findImbalance(array, 1).has_value());
  EXPECT_TRUE(findImbalance(array, 1)->combination.empty());
}

// Balanced columns that are copies of each other: only counting pairs finds it (as in a widely used package's L64 of 31 columns).
TEST(Verify, RepeatedColumnIsFound) {
  Array array = *hadamardArray(64, 31);
  for (std::size_t r = 0; r < array.runs; ++r) array.at(r, 30) = array.at(r, 3);
  EXPECT_FALSE(findImbalance(array, 1).has_value());
  const auto found = findImbalance(array, 2);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->columns, (std::vector<std::uint32_t>{3, 30}));
  EXPECT_EQ(measuredStrength(array, 4), 1U);
}

// Combinations as sets: of few and of many levels, of which those with a nested factor's absence are none.
TEST(Verify, CoverageCountsWhatStands) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    Array array;
    const std::size_t columns = 2 + random() % 4;
    for (std::size_t c = 0; c < columns; ++c)
      array.levels.push_back(trial % 5 == 0 ? 5000 : 2 + static_cast<std::uint32_t>(random() % 4));
    array.runs = 1 + random() % 4000;
    for (std::size_t r = 0; r < array.runs; ++r) {
      for (std::size_t c = 0; c < columns; ++c) array.cells.push_back(static_cast<std::uint32_t>(random() % array.levels[c]));
    }
    if (trial % 2 == 1 && trial % 5 != 0) {  // the combinations that exist are listed there
      array.nested = {{1, 0, {0}}};
      for (std::size_t r = 0; r < array.runs; ++r) {
        const std::uint32_t absent = array.levels[1] - 1;
        array.at(r, 1) = array.at(r, 0) == 0 ? std::min(array.at(r, 1), absent - 1) : absent;
      }
    }
    for (std::uint32_t t = 1; t <= std::min<std::size_t>(3, columns); ++t) {
      std::set<std::vector<std::uint32_t>> there;
      for (std::uint32_t mask = 0; mask < (1U << columns); ++mask) {
        if (static_cast<std::uint32_t>(__builtin_popcount(mask)) != t) continue;
        for (std::size_t r = 0; r < array.runs; ++r) {
          std::vector<std::uint32_t> key{mask};
          bool isThere = true;
          for (std::uint32_t c = 0; c < columns; ++c) {
            if ((mask >> c & 1U) == 0) continue;
            key.push_back(array.at(r, c));
            isThere = isThere && !isAbsent(array, r, c);
          }
          if (isThere) there.insert(key);
        }
      }
      EXPECT_EQ(coverage(array, t).covered, there.size()) << trial << " " << t;
    }
  }
}

// One pass over the rows says it of a full factorial; a row twice in place of another is found as ever.
TEST(Verify, FullFactorialsHoldEachOnce) {
  Array array = *fullFactorial({2, 3, 4, 5});
  EXPECT_FALSE(findImbalance(array, 4));
  array.at(17, 2) = (array.at(17, 2) + 1) % 4;
  const auto found = findImbalance(array, 4);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->columns, (std::vector<std::uint32_t>{2}));
}

TEST(Verify, DuplicatesCoverageCounts) {
  Array array;
  array.levels = {2, 3};
  array.runs = 4;
  array.cells = {0, 0, 1, 2, 0, 0, 1, 1};
  EXPECT_EQ(duplicateRows(array), (std::vector<std::vector<std::size_t>>{{0, 2}}));
  EXPECT_EQ(coverage(array, 2).covered, 3U);
  EXPECT_EQ(coverage(array, 2).total, 6U);
  EXPECT_EQ(coverage(array, 1).covered, 5U);
  EXPECT_EQ(levelCounts(array), (std::vector<std::vector<std::uint64_t>>{{2, 2}, {2, 1, 1}}));
}
