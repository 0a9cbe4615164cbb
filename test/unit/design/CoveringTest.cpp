#include "compiler/design/cover/Covering.h"

#include "Models.h"

#include <array>
#include <random>
#include <set>

using namespace tbem::design;
using namespace tbem::design::test;

namespace {

/// Builds with sanitizers take the same steps.
constexpr double kPatience = 1000;

/// Counts for itself, over every row there could be: the array's are valid, and hold every combination of `t` levels that valid
/// ones hold. For few factors.
void expectCovers(const Constraints& model, const Covering& found, std::uint32_t t) {
  const Array& array = found.array;
  ASSERT_EQ(array.cells.size(), array.runs * model.levels.size());
  for (std::size_t r = 0; r < array.runs; ++r) {
    EXPECT_FALSE(breaks(model, array.cells.data() + r * model.levels.size())) << "row " << r;
    for (std::size_t f = 0; f < model.levels.size(); ++f) ASSERT_LT(array.at(r, f), model.levels[f]);
  }
  std::set<std::vector<std::uint32_t>> wanted, there;
  const auto collect = [&](std::set<std::vector<std::uint32_t>>& into, const std::uint32_t* row) {
    const auto factors = static_cast<std::uint32_t>(model.levels.size());
    for (std::uint32_t mask = 0; mask < (1U << factors); ++mask) {
      if (static_cast<std::uint32_t>(__builtin_popcount(mask)) != t) continue;
      std::vector<std::uint32_t> key{mask};
      for (std::uint32_t f = 0; f < factors; ++f) {
        if ((mask >> f & 1U) != 0) key.push_back(row[f]);
      }
      into.insert(key);
    }
  };
  for (const auto& row : everyRow(model.levels)) {
    if (!breaks(model, row.data())) collect(wanted, row.data());
  }
  for (std::size_t r = 0; r < array.runs; ++r) collect(there, array.cells.data() + r * model.levels.size());
  EXPECT_EQ(there, wanted);
  EXPECT_EQ(found.covered, wanted.size());
}

/// Pairs in the rows; that none is missing follows from their number, where that is known.
std::size_t pairsIn(const Array& array) {
  std::set<std::array<std::uint32_t, 4>> pairs;
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::uint32_t f = 0; f < array.columns(); ++f) {
      for (std::uint32_t g = f + 1; g < array.columns(); ++g) pairs.insert({f, array.at(r, f), g, array.at(r, g)});
    }
  }
  return pairs.size();
}

Covering made(const Constraints& model, std::uint32_t t, double seconds = 0.3, std::uint64_t seed = 1) {
  CoveringChoice choice = coveringArray(model, t, {seed, seconds, kPatience});
  if (const auto* reason = std::get_if<std::string>(&choice)) {
    ADD_FAILURE() << *reason;
    return {};
  }
  return std::get<Covering>(choice);
}

std::vector<std::uint32_t> power(std::uint32_t levels, std::size_t factors) {
  return std::vector<std::uint32_t>(factors, levels);
}

}  // namespace

TEST(Covering, RandomModelsOfEveryStrength) {
  std::mt19937 random(7);
  int constrained = 0;
  for (int trial = 0; trial < 120; ++trial) {
    Constraints model;
    const std::size_t factors = 1 + random() % 6;
    for (std::size_t f = 0; f < factors; ++f) model.levels.push_back(1 + static_cast<std::uint32_t>(random() % 4));
    for (std::size_t i = random() % 6; i > 0; --i) {
      Combination one;
      for (std::uint32_t f = 0; f < factors; ++f) {
        if (random() % 2 == 0) one.push_back({f, static_cast<std::uint32_t>(random() % model.levels[f])});
      }
      if (one.size() > 1) model.forbidden.push_back(one);
    }
    const std::uint32_t t = 1 + static_cast<std::uint32_t>(random() % factors);
    const CoveringChoice choice = coveringArray(model, t, {random(), 0.002, kPatience});
    const auto* found = std::get_if<Covering>(&choice);
    if (found == nullptr) continue;  // no valid row
    expectCovers(model, *found, t);
    EXPECT_GE(found->array.runs, found->lowerBound);
    constrained += model.forbidden.empty() ? 0 : 1;
  }
  EXPECT_GE(constrained, 50);
}

// Rows that are built without a search cover too, and are valid.
TEST(Covering, SpentWorkStillCovers) {
  std::mt19937 random(11);
  std::size_t unsearched = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Constraints model;
    const std::size_t factors = 3 + random() % 5;
    for (std::size_t f = 0; f < factors; ++f) model.levels.push_back(2 + static_cast<std::uint32_t>(random() % 3));
    for (std::size_t i = random() % 5; i > 0; --i) {
      const auto a = static_cast<std::uint32_t>(random() % (factors - 1));
      model.forbidden.push_back({{a, static_cast<std::uint32_t>(random() % model.levels[a])},
                                 {a + 1, static_cast<std::uint32_t>(random() % model.levels[a + 1])}});
    }
    const std::uint32_t t = 2 + static_cast<std::uint32_t>(random() % 2);
    const CoveringChoice choice = coveringArray(model, t, {random(), 1e-6, kPatience});
    const auto* found = std::get_if<Covering>(&choice);
    if (found == nullptr) continue;  // no valid row
    expectCovers(model, *found, t);
    unsearched += found->unsearchedRows;
  }
  EXPECT_GE(unsearched, 500U);
}

// 4 241 160 combinations: work ends the search long before all are covered. Counted anew here.
TEST(Covering, LargeOnesEndByWork) {
  const Covering found = made({power(3, 35), {}}, 4, 0.1);
  EXPECT_GT(found.unsearchedRows, found.array.runs / 2);
  EXPECT_LE(found.array.runs, 700U);
  const std::size_t columns = found.array.columns();
  std::vector<bool> there(81);
  std::size_t combinations = 0;
  for (std::size_t a = 0; a < columns; ++a) {
    for (std::size_t b = a + 1; b < columns; ++b) {
      for (std::size_t c = b + 1; c < columns; ++c) {
        for (std::size_t d = c + 1; d < columns; ++d) {
          there.assign(81, false);
          for (std::size_t r = 0; r < found.array.runs; ++r) {
            const std::uint32_t* row = found.array.cells.data() + r * columns;
            there[((row[a] * 3 + row[b]) * 3 + row[c]) * 3 + row[d]] = true;
          }
          combinations += static_cast<std::size_t>(std::count(there.begin(), there.end(), true));
        }
      }
    }
  }
  EXPECT_EQ(combinations, 4'241'160U);
  EXPECT_EQ(found.covered, combinations);
}

// Kleitman and Spencer 1973; Katona 1973: 4 rows for 3 factors, 5 for 4, 6 for 10, 7 for 15, 8 for 35, 9 for 56, 10 for 126.
TEST(Covering, TwoLevelsAreOptimal) {
  const std::pair<std::size_t, std::size_t> known[] = {{2, 4},  {3, 4},  {4, 5},  {5, 6},   {10, 6},   {11, 7},  {15, 7},
                                                       {16, 8}, {35, 8}, {56, 9}, {57, 10}, {100, 10}, {126, 10}};
  for (const auto& [factors, rows] : known) {
    const Covering found = made({power(2, factors), {}}, 2);
    EXPECT_EQ(found.array.runs, rows) << factors;
    EXPECT_TRUE(found.optimal());
    EXPECT_EQ(pairsIn(found.array), 4 * factors * (factors - 1) / 2);
  }
}

// Known sizes: Colbourn's tables of covering arrays; an orthogonal array is the least where it exists.
TEST(Covering, SmallKnownSizes) {
  struct Known {
    std::vector<std::uint32_t> levels;
    std::uint32_t t;
    std::size_t rows;
  };
  const Known known[] = {{power(3, 4), 2, 9}, {power(3, 5), 2, 11},  {power(3, 7), 2, 12}, {power(4, 5), 2, 16},
                         {power(2, 4), 3, 8}, {power(2, 10), 3, 12}, {power(3, 4), 3, 27}, {power(2, 6), 4, 21},
                         {{4, 3, 2}, 2, 12},  {{5, 5}, 2, 25}};
  for (const Known& one : known) {
    const Covering found = made({one.levels, {}}, one.t, 1);
    EXPECT_EQ(found.array.runs, one.rows) << levelText(one.levels) << " strength " << one.t;
    expectCovers({one.levels, {}}, found, one.t);
  }
}

TEST(Covering, SameSeedSameRows) {
  const Constraints model = readModel("spins");
  const Covering a = made(model, 2, 0.05, 3), b = made(model, 2, 0.05, 3), c = made(model, 2, 0.05, 4);
  EXPECT_EQ(a.array.cells, b.array.cells);
  EXPECT_NE(a.array.cells, c.array.cells);
}

// Sizes that the literature reaches (pairwise.org for the unconstrained ones, Garvin, Cohen, Dwyer 2011 and Lin et al. 2015 for
// the constrained ones); pairs required as ConstraintsTest counts them.
TEST(Covering, Benchmarks) {
  const auto mixed = [](std::initializer_list<std::pair<std::uint32_t, std::size_t>> runs) {
    std::vector<std::uint32_t> levels;
    for (const auto& [s, count] : runs) levels.insert(levels.end(), count, s);
    return levels;
  };
  struct Benchmark {
    Constraints model;
    std::size_t rows, pairs;
  };
  const Benchmark benchmarks[] = {{{power(3, 13), {}}, 15, 702},
                                  {{mixed({{4, 15}, {3, 17}, {2, 29}}), {}}, 30, 14026},
                                  {{mixed({{4, 1}, {3, 39}, {2, 35}}), {}}, 22, 17987},
                                  {{power(10, 20), {}}, 195, 19000},
                                  {readModel("spins"), 20, 979},
                                  {readModel("spinv"), 33, 8741},
                                  {readModel("gcc"), 18, 82770},
                                  {readModel("apache"), 30, 66927},
                                  {readModel("bugzilla"), 16, 5818}};
  for (const Benchmark& one : benchmarks) {
    const Covering found = made(one.model, 2, 1);
    EXPECT_LE(found.array.runs, one.rows) << found.array.name;
    for (std::size_t r = 0; r < found.array.runs; ++r)
      EXPECT_FALSE(breaks(one.model, found.array.cells.data() + r * one.model.levels.size()));
    EXPECT_EQ(pairsIn(found.array), one.pairs) << found.array.name;
    EXPECT_FALSE(found.endedByClock);
  }
}
