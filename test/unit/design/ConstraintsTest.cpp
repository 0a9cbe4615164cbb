#include "compiler/design/rows/Constraints.h"

#include "Models.h"
#include "compiler/design/rows/Implied.h"
#include "compiler/design/rows/ValidRows.h"

#include <random>
#include <set>

using namespace tbem::design;
using namespace tbem::design::test;

namespace {

Constraints randomModel(std::mt19937& random) {
  Constraints model;
  const std::size_t factors = 2 + random() % 5;
  for (std::size_t f = 0; f < factors; ++f) model.levels.push_back(1 + static_cast<std::uint32_t>(random() % 4));
  const std::size_t count = random() % 12;
  for (std::size_t i = 0; i < count; ++i) {
    Combination one;
    for (std::uint32_t f = 0; f < factors; ++f) {
      if (random() % 3 == 0) one.push_back({f, static_cast<std::uint32_t>(random() % model.levels[f])});
    }
    if (!one.empty()) model.forbidden.push_back(std::move(one));
  }
  return model;
}

std::vector<std::vector<std::uint32_t>> validRows(const Constraints& model) {
  std::vector<std::vector<std::uint32_t>> valid;
  for (auto& row : everyRow(model.levels)) {
    if (!breaks(model, row.data())) valid.push_back(row);
  }
  return valid;
}

/// Combinations of `size` levels that no row of the list holds, and of which no part is known already.
std::vector<Combination> missing(const std::vector<std::vector<std::uint32_t>>& rows, const std::vector<std::uint32_t>& levels,
                                 std::size_t size, const std::set<Combination>& known) {
  std::vector<Combination> found;
  const auto factors = static_cast<std::uint32_t>(levels.size());
  for (std::uint32_t mask = 0; mask < (1U << factors); ++mask) {
    if (static_cast<std::size_t>(__builtin_popcount(mask)) != size) continue;
    std::vector<std::uint32_t> chosen, sizes;
    for (std::uint32_t f = 0; f < factors; ++f) {
      if ((mask >> f & 1U) != 0) {
        chosen.push_back(f);
        sizes.push_back(levels[f]);
      }
    }
    for (const auto& combination : everyRow(sizes)) {
      Combination one;
      for (std::size_t i = 0; i < chosen.size(); ++i) one.push_back({chosen[i], combination[i]});
      bool there = false, implied = false;
      for (const auto& row : rows) {
        bool all = true;
        for (const Literal& l : one) all = all && row[l.factor] == l.level;
        there = there || all;
      }
      for (const Combination& part : known) implied = implied || std::includes(one.begin(), one.end(), part.begin(), part.end());
      if (!there && !implied) found.push_back(one);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST(Constraints, AgreeWithEveryRowOfRandomModels) {
  std::mt19937 random(1);
  int empty = 0, withTriples = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Constraints model = randomModel(random);
    const auto rows = validRows(model);
    const Constraints simple = simplified(model);
    for (const auto& row : everyRow(model.levels)) EXPECT_EQ(simple.allows(row), !breaks(model, row.data()));
    ASSERT_EQ(countValidRows(model), rows.size());
    ValidRows valid(model);
    EXPECT_EQ(valid.anyRow().has_value(), !rows.empty());
    if (rows.empty()) {
      ++empty;
      continue;
    }
    EXPECT_FALSE(breaks(model, valid.anyRow()->data()));
    std::set<Combination> known;
    std::vector<std::vector<Combination>> expected;
    for (std::size_t size = 1; size <= 3; ++size) {
      expected.push_back(missing(rows, model.levels, size, known));
      known.insert(expected.back().begin(), expected.back().end());
    }
    Implied implied = impliedBy(valid);
    std::sort(implied.triples.begin(), implied.triples.end());
    std::vector<Combination> dead;
    for (const Literal& one : implied.dead) dead.push_back({one});
    EXPECT_EQ(dead, expected[0]);
    EXPECT_EQ(implied.pairs, expected[1]);
    EXPECT_EQ(implied.triples, expected[2]);
    withTriples += expected[2].empty() ? 0 : 1;
  }
  EXPECT_GT(empty, 5);
  EXPECT_GT(withTriples, 20);
}

TEST(Constraints, PlacingKeepsRowsValid) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const Constraints model = randomModel(random);
    const auto rows = validRows(model);
    if (rows.empty()) continue;
    ValidRows valid(model);
    std::vector<std::uint32_t> row = rows[random() % rows.size()];
    for (std::uint32_t f = 0; f < model.levels.size(); ++f) {
      for (std::uint32_t level = 0; level < model.levels[f]; ++level) {
        const Literal wanted{f, level};
        bool there = false, same = true;
        for (const auto& other : rows) there = there || other[f] == level;
        std::vector<std::uint32_t> changed = row;
        EXPECT_EQ(valid.place({&wanted, 1}, changed), there);
        changed[f] = there ? changed[f] : level;
        EXPECT_EQ(changed[f], level);
        if (there) {
          EXPECT_FALSE(breaks(model, changed.data()));
        }
        std::vector<std::uint32_t> alone = row;
        alone[f] = level;
        EXPECT_EQ(valid.allowsChange(row, {&wanted, 1}), !breaks(model, alone.data()));
        if (there && !breaks(model, alone.data())) same = changed == alone;
        EXPECT_TRUE(same) << "a change that is valid by itself moves nothing else";
      }
    }
  }
}

// With W in {28, 32, 56, 64} and odd F, W - F + 2 P is odd: strides 2 and 4 never divide it.
TEST(Constraints, ParityKillsStrides) {
  const int widths[] = {28, 32, 56, 64}, filters[] = {1, 3, 5, 7};
  Constraints model{{4, 4, 4, 4}, {}};
  for (std::uint32_t w = 0; w < 4; ++w) {
    for (std::uint32_t f = 0; f < 4; ++f) {
      for (std::uint32_t p = 0; p < 4; ++p) {
        for (std::uint32_t s = 0; s < 4; ++s) {
          if ((widths[w] - filters[f] + 2 * static_cast<int>(p)) % static_cast<int>(s + 1) != 0)
            model.forbidden.push_back({{0, w}, {1, f}, {2, p}, {3, s}});
        }
      }
    }
  }
  ValidRows valid(model);
  const Implied implied = impliedBy(valid);
  EXPECT_EQ(implied.dead, (std::vector<Literal>{{3, 1}, {3, 3}}));
  EXPECT_EQ(culprits({{model.levels, {}}, model, {model.levels, {{{0, 0}, {1, 0}}}}}, {{3, 1}}), std::vector<std::size_t>{1});
}

/// Pairwise different levels of n + 1 factors with n levels: no row, and no short proof of it by backtracking.
TEST(Constraints, HardQuestionsAreGivenUp) {
  const std::uint32_t n = 11;
  Constraints model{std::vector<std::uint32_t>(n + 1, n), {}};
  for (std::uint32_t f = 0; f <= n; ++f) {
    for (std::uint32_t g = f + 1; g <= n; ++g) {
      for (std::uint32_t level = 0; level < n; ++level) model.forbidden.push_back({{f, level}, {g, level}});
    }
  }
  EXPECT_TRUE(ValidRows(model).gaveUp());
  model.levels.pop_back();
  std::erase_if(model.forbidden, [&](const Combination& one) { return one.back().factor == n; });
  ValidRows permutations(model);
  EXPECT_FALSE(permutations.gaveUp());
  EXPECT_EQ(countValidRows(model), 39'916'800U);  // 11!
}

// Shares of pairs and of rows that are valid, as fmselab/CIT_Benchmark_Generator has them (external_validation/Garvin2010.csv,
// columns RatioTuple and RatioTest; the latter to six digits).
TEST(Constraints, PublishedModels) {
  struct Published {
    const char* name;
    double pairs, rows;
  };
  const Published models[] = {{"spins", 0.9868951612903226, 0.23876899748587668},
                              {"spinv", 0.9936341934750483, 1.5639407062961914E-4},
                              {"gcc", 0.9995290366989096, 0.003586886845189404},
                              {"apache", 0.99995517705065, 0.32444013535607014},
                              {"bugzilla", 0.9993129508759876, 0.2768555525949611}};
  for (const auto& [name, pairs, rows] : models) {
    ValidRows valid(readModel(name));
    const Implied implied = impliedBy(valid, 0);
    EXPECT_TRUE(implied.dead.empty()) << name;
    double all = 0, product = 1;
    const auto& levels = valid.constraints().levels;
    for (std::size_t f = 0; f < levels.size(); ++f) {
      product *= levels[f];
      for (std::size_t g = f + 1; g < levels.size(); ++g) all += levels[f] * levels[g];
    }
    EXPECT_NEAR(1 - static_cast<double>(implied.pairs.size()) / all, pairs, 1e-15) << name;
    const auto count = countValidRows(valid.constraints());
    if (product < 0x1p64) {
      ASSERT_TRUE(count.has_value()) << name;
      EXPECT_NEAR(static_cast<double>(*count) / product, rows, 3e-6 * rows) << name;
    } else {
      // The factors that no combination mentions leave 64 bits; without them the share is the same.
      Constraints tied = valid.constraints();
      double share = 1;
      for (std::uint32_t f = 0; f < levels.size(); ++f) {
        if (!valid.constrained(f)) tied.levels[f] = 1;
        share *= tied.levels[f];
      }
      const auto some = countValidRows(tied);
      ASSERT_TRUE(some.has_value()) << name;
      EXPECT_NEAR(static_cast<double>(*some) / share, rows, 3e-6 * rows) << name;
    }
  }
}
