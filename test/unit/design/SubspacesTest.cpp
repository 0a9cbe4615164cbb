#include "compiler/design/field/Subspaces.h"

#include "compiler/design/array/Random.h"
#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/field/Caps.h"
#include "compiler/design/field/Galois.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace tbem::design;

namespace {

using Levels = std::vector<std::uint32_t>;

/// The vector times the inverse of its first coordinate that is not 0.
Levels normal(const Galois& field, const Levels& vector) {
  const auto lead = std::find_if(vector.begin(), vector.end(), [](std::uint32_t x) { return x != 0; });
  std::uint32_t inverse = 1;
  while (lead != vector.end() && field.multiply(*lead, inverse) != 1) ++inverse;
  Levels result;
  for (const std::uint32_t x : vector) result.push_back(field.multiply(x, inverse));
  return result;
}

/// Whether the points are different ones and no line through two of them holds a third.
bool isCap(const Galois& field, const std::vector<Levels>& points) {
  std::set<Levels> all;
  for (const Levels& point : points) all.insert(normal(field, point));
  if (all.size() != points.size()) return false;
  for (const Levels& a : points) {
    for (const Levels& b : points) {
      if (&a == &b) continue;
      for (std::uint32_t factor = 1; factor < field.size(); ++factor) {
        Levels sum;
        for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(field.add(a[i], field.multiply(factor, b[i])));
        if (all.count(normal(field, sum)) != 0) return false;
      }
    }
  }
  return true;
}

/// Whether every choice of t columns from `first` on is balanced, the rows already told apart by `keys`.
bool balanced(const Table& table, std::uint32_t t, std::size_t first, const std::vector<std::uint64_t>& keys,
              std::uint64_t cells) {
  if (t == 0) {
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const std::uint64_t key : keys) ++counts[key];
    return counts.size() == cells &&
           std::all_of(counts.begin(), counts.end(), [&](const auto& entry) { return entry.second * cells == keys.size(); });
  }
  for (std::size_t c = first; c < table.columns.size(); ++c) {
    std::vector<std::uint64_t> next(keys);
    for (std::size_t r = 0; r < next.size(); ++r) next[r] = next[r] * table.columns[c].levels + table.columns[c].cells[r];
    if (!balanced(table, t - 1, c + 1, next, cells * table.columns[c].levels)) return false;
  }
  return true;
}

std::size_t runsOf(const Levels& levels, std::uint32_t strength) {
  const Choice choice = chooseArray(levels, strength);
  const auto* array = std::get_if<Array>(&choice);
  return array == nullptr ? 0 : array->runs;
}

Levels joined(std::initializer_list<std::pair<std::uint32_t, std::size_t>> parts) {
  Levels levels;
  for (const auto& [s, count] : parts) levels.insert(levels.end(), count, s);
  return levels;
}

}  // namespace

TEST(Caps, HaveNoThreePointsOnALine) {
  for (const std::uint32_t q : {2U, 3U, 4U, 5U, 7U, 8U, 9U, 11U}) {
    const Galois field = *Galois::make(q);
    for (std::uint32_t m = 2; m <= 7; ++m) {
      if (capSize(q, m) > 300) continue;
      const auto points = capPoints(q, m, 1000);
      EXPECT_EQ(points.size(), capSize(q, m)) << q << ", " << m;
      for (const auto& point : points) ASSERT_EQ(point.size(), m) << q;
      EXPECT_TRUE(isCap(field, points)) << q << ", " << m;
    }
  }
}

// The largest that there are: PG(2, q) Bose 1947, PG(3, q) Bose 1947 and Qvist 1952, PG(4, 3) Pellegrino 1971, PG(5, 3) Hill
// 1973.
TEST(Caps, KnownSizes) {
  EXPECT_EQ(capSize(2, 6), 32U);
  EXPECT_EQ(capSize(5, 3), 6U);
  EXPECT_EQ(capSize(8, 3), 10U);
  EXPECT_EQ(capSize(7, 4), 50U);
  EXPECT_EQ(capSize(3, 5), 20U);
  EXPECT_EQ(capSize(3, 6), 56U);
  EXPECT_EQ(capSize(3, 7), 112U);
}

TEST(Subspaces, AreIndependent) {
  Random random(3);
  std::size_t found = 0, mixed = 0;
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t p = random.below(3) == 0 ? 3 : 2, strength = 2 + random.below(3);
    const std::uint32_t m = p == 2 ? 4 + random.below(6) : 3 + random.below(3), k = 3 + random.below(6);
    Levels levels;
    for (std::uint32_t c = 0; c < k; ++c) levels.push_back(random.below(2) == 0 ? p : random.below(3) == 0 ? p * p * p : p * p);
    const auto subspaces = independentSubspaces(levels, strength, p, m, 1 + random.below(2));
    if (!subspaces) continue;
    ++found;
    mixed += std::set<std::uint32_t>(levels.begin(), levels.end()).size() > 1 ? 1 : 0;
    const Table table = subspaceTable(*subspaces);
    ASSERT_EQ(table.columns.size(), levels.size());
    for (std::size_t c = 0; c < levels.size(); ++c) ASSERT_EQ(table.columns[c].levels, levels[c]);
    const std::uint32_t t = std::min(strength, k);
    EXPECT_TRUE(balanced(table, t, 0, std::vector<std::uint64_t>(table.runs, 0), 1)) << levelText(levels);
  }
  EXPECT_GT(found, 60U);
  EXPECT_GT(mixed, 40U);
}

// More than one row for each combination of as many columns of those levels as the strength: no more columns can be had there.
TEST(Subspaces, TooManyAreRefused) {
  EXPECT_FALSE(independentSubspaces(Levels(5, 2), 3, 2, 3, 1));  // OA(8, 2^k, 3): at most 4
  EXPECT_TRUE(independentSubspaces(Levels(4, 2), 3, 2, 3, 1));
  EXPECT_FALSE(independentSubspaces(Levels(11, 3), 3, 3, 4, 1));  // caps of PG(3, 3): at most 10
  EXPECT_TRUE(independentSubspaces(Levels(10, 3), 3, 3, 4, 1));
  EXPECT_FALSE(independentSubspaces(Levels(7, 4), 3, 2, 6, 2));  // OA(64, 4^k, 3): at most 6
  EXPECT_TRUE(independentSubspaces(Levels(6, 4), 3, 2, 6, 2));
}

TEST(Subspaces, SmallestArraysByThem) {
  EXPECT_EQ(runsOf(joined({{3, 56}}), 3), 729U);          // Brouwer's table of strength 3: 3^56
  EXPECT_EQ(runsOf(joined({{2, 2}, {8, 3}}), 4), 1024U);  // the least that divisibility allows
  EXPECT_EQ(runsOf(joined({{6, 24}}), 3), 34'992U);       // 48 rows of 2^24, 729 of 3^24
  EXPECT_EQ(runsOf(joined({{5, 14}}), 4), 15'625U);
}

TEST(Subspaces, RowsThatAreAskedFor) {
  Options options;
  options.rows = 2 * 3888;  // 48 rows of 2^8, 81 of 3^8 9
  const Choice choice = chooseArray(joined({{6, 8}, {9, 1}}), 3, options);
  ASSERT_TRUE(std::holds_alternative<Array>(choice)) << std::get<Refusal>(choice).reason;
  EXPECT_EQ(std::get<Array>(choice).runs, 7776U);
}

TEST(Subspaces, RefusalsSayHowLargeTheProductIs) {
  const Choice choice = chooseArray(joined({{5, 7}, {7, 11}}), 3);
  ASSERT_TRUE(std::holds_alternative<Refusal>(choice));
  EXPECT_EQ(
      std::get<Refusal>(choice).reason,
      "no construction that is here gives strength 3 for 5^7 7^11 with at most 1000000 rows and 4000000 cells; the product of "
      "the arrays of each prime has 1500625 rows, 27011250 cells");
}
