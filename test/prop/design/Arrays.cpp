// Laws that every orthogonal array obeys, on all that these constructions give.
#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/field/Galois.h"
#include "compiler/design/field/Hadamard.h"
#include "compiler/design/field/RaoHamming.h"
#include "compiler/design/verify/Aliases.h"
#include "compiler/design/verify/Bounds.h"
#include "compiler/design/verify/Verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>

using namespace tbem;
using namespace tbem::design;

namespace {

/// Mixed levels and higher strengths, as the search puts them together.
std::vector<Array> composites() {
  std::vector<Array> arrays;
  const std::vector<std::pair<std::vector<std::uint32_t>, std::uint32_t>> wanted{
      {{2, 3, 3, 3, 3, 3, 3, 3}, 2}, {{2, 2, 3, 3, 4, 4}, 2}, {{2, 2, 2, 2, 2, 4, 6}, 2}, {{6, 6, 6, 6, 6, 6, 6}, 2},
      {{2, 2, 3, 4, 6, 6, 12}, 2},   {{10, 10, 10, 10}, 2},   {{2, 2, 2, 2, 3, 4}, 3},    {{2, 2, 2, 2, 4, 4}, 3},
      {{3, 3, 3, 3, 3}, 3},          {{2, 2, 2, 2, 6}, 3},    {{2, 3, 3, 3, 3, 3}, 3},    {std::vector<std::uint32_t>(9, 2), 4},
      {{5, 5, 5, 2, 2, 10}, 2},      {{3, 3, 3, 3, 15}, 2},   {{4, 4, 4, 8, 2}, 2},       {{2, 2, 2, 2, 2, 5}, 3}};
  for (const auto& [levels, strength] : wanted) arrays.push_back(std::get<Array>(chooseArray(levels, strength)));
  return arrays;
}

std::vector<Array> sample() {
  std::vector<Array> arrays;
  for (std::uint32_t q = 2; q <= 16; ++q) {
    for (std::uint32_t m = 2; m <= 4; ++m) {
      const auto runs = powerUpTo(q, m, 300);
      if (!runs) continue;
      const auto most = static_cast<std::uint32_t>((*runs - 1) / (q - 1));
      for (const std::uint32_t k : {std::min(2U, most), std::min(5U, most), std::min(13U, most)}) {
        if (auto array = raoHamming(q, m, k, 300)) arrays.push_back(std::move(*array));
      }
    }
    for (std::uint32_t t = 3; t <= 4; ++t) {
      if (auto array = bush(q, t, std::min(q + 1, 6U), 700)) arrays.push_back(std::move(*array));
    }
    for (std::uint32_t t = 2; t <= 3; ++t) {
      if (auto array = zeroSum(q, t, t + 1, 700)) arrays.push_back(std::move(*array));
    }
  }
  for (std::uint32_t n = 4; n <= 60; n += 4) {
    if (auto array = hadamardArray(n, std::min(n - 1, 12U))) arrays.push_back(std::move(*array));
    if (auto array = foldoverArray(2 * n, std::min(n, 10U))) arrays.push_back(std::move(*array));
  }
  for (const auto& levels : {std::vector<std::uint32_t>{2, 3, 4}, std::vector<std::uint32_t>{5, 2, 2, 3}})
    arrays.push_back(*fullFactorial(levels));
  for (Array& array : composites()) arrays.push_back(std::move(array));
  return arrays;
}

std::string describe(const Array& array) {
  return array.construction + " " + std::to_string(array.runs) + " " + levelText(array.levels);
}

/// N^2 / prod(s) sum_j A_j counts the ordered pairs of equal rows.
void expectMacWilliams(const Array& array) {
  const auto pattern = wordLengthPattern(array, static_cast<std::uint32_t>(array.columns()));
  if (!pattern) return;
  __int128 numerator = 0, product = 1;
  const auto squared = static_cast<__int128>(array.runs) * array.runs;
  for (const Rational& a : *pattern) {
    EXPECT_GE(a.num, 0) << describe(array);
    numerator += static_cast<__int128>(a.num) * (squared / a.den);
  }
  for (const std::uint32_t s : array.levels) product *= s;
  std::uint64_t equal = array.runs;
  for (const auto& group : duplicateRows(array)) equal += group.size() * (group.size() - 1);
  EXPECT_EQ(static_cast<std::int64_t>(numerator / product), static_cast<std::int64_t>(equal)) << describe(array);
  for (std::uint32_t j = 1; j <= array.strength && j < pattern->size(); ++j)
    EXPECT_EQ((*pattern)[j], Rational::of(0)) << describe(array);
}

}  // namespace

TEST(Arrays, ObeyTheirLaws) {
  const auto arrays = sample();
  EXPECT_GT(arrays.size(), 80U);
  for (const Array& array : arrays) {
    EXPECT_FALSE(findImbalance(array, array.strength).has_value()) << describe(array);
    const Bounds bound = bounds(array.levels, array.strength);
    EXPECT_EQ(array.runs % bound.divisor, 0U) << describe(array);
    EXPECT_GE(array.runs, bound.rao) << describe(array);
    const MainEffects effects = mainEffects(array);
    const std::size_t parameters = std::accumulate(array.levels.begin(), array.levels.end(), std::size_t{1}) - array.columns();
    EXPECT_EQ(effects.rank, parameters) << describe(array);
    EXPECT_NEAR(effects.condition, 1, 1e-6) << describe(array);
    const Coverage pairs = coverage(array, 2);
    EXPECT_EQ(pairs.covered, pairs.total) << describe(array);
    expectMacWilliams(array);
  }
}

TEST(Arrays, AnyCorruptionIsFound) {
  std::mt19937_64 random(20240607);
  for (Array array : sample()) {
    const std::size_t cell = random() % array.cells.size();
    const std::uint32_t s = array.levels[cell % array.columns()];
    array.cells[cell] = (array.cells[cell] + 1 + static_cast<std::uint32_t>(random() % (s - 1))) % s;
    EXPECT_TRUE(findImbalance(array, array.strength).has_value()) << describe(array);
  }
}

TEST(Arrays, KeepStrengthAndPatternUnderPermutation) {
  std::mt19937_64 random(7);
  for (const Array& array : sample()) {
    if (array.runs > 130) continue;
    std::vector<std::size_t> rows(array.runs), columns(array.columns());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    std::shuffle(rows.begin(), rows.end(), random);
    std::shuffle(columns.begin(), columns.end(), random);
    Array other = array;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      other.levels[c] = array.levels[columns[c]];
      std::vector<std::uint32_t> labels(other.levels[c]);
      std::iota(labels.begin(), labels.end(), 0U);
      std::shuffle(labels.begin(), labels.end(), random);
      for (std::size_t r = 0; r < rows.size(); ++r) other.at(r, c) = labels[array.at(rows[r], columns[c])];
    }
    EXPECT_EQ(measuredStrength(other, 4), measuredStrength(array, 4)) << describe(array);
    EXPECT_EQ(wordLengthPattern(other, 4), wordLengthPattern(array, 4)) << describe(array);
  }
}

// The rows where one column has one level, without it, have one strength less (Hedayat, Sloane, Stufken, section 1.4).
TEST(Arrays, DerivedArraysLoseOneStrength) {
  for (const Array& array : sample()) {
    if (array.strength < 2 || array.columns() < 2) continue;
    Array derived;
    derived.levels.assign(array.levels.begin() + 1, array.levels.end());
    for (std::size_t r = 0; r < array.runs; ++r) {
      if (array.at(r, 0) != 1) continue;
      ++derived.runs;
      derived.cells.insert(derived.cells.end(), array.row(r).begin() + 1, array.row(r).end());
    }
    EXPECT_EQ(derived.runs * array.levels[0], array.runs) << describe(array);
    EXPECT_FALSE(findImbalance(derived, array.strength - 1).has_value()) << describe(array);
  }
}

// Whatever is asked: an array of exactly these levels with the strength it claims, or a refusal whose bound is below the full
// factorial.
TEST(ChooseArray, AnyLevels) {
  std::mt19937_64 random(99);
  int built = 0, refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::uint32_t> levels(random() % 8);
    const auto equal = static_cast<std::uint32_t>(1 + random() % 9);
    const bool same = random() % 2 == 0;
    for (std::uint32_t& level : levels) level = same ? equal : static_cast<std::uint32_t>(1 + random() % 5);
    const auto strength = static_cast<std::uint32_t>(1 + random() % 4);
    Options options;
    options.maxRows = random() % 3 == 0 ? 40 : 20000;
    if (random() % 3 == 0) options.rows = 1 + static_cast<std::int64_t>(random() % 200);
    if (random() % 4 == 0) options.seed = random();
    if (random() % 8 == 0) options.arrayName = "L" + std::to_string(4 * (1 + random() % 20));
    const Choice choice = chooseArray(levels, strength, options);
    std::uint64_t all = 1;
    std::size_t varying = 0;
    for (const std::uint32_t level : levels) {
      all *= level;
      varying += level > 1 ? 1 : 0;
    }
    if (const auto* array = std::get_if<Array>(&choice)) {
      ++built;
      EXPECT_EQ(array->levels, levels);
      EXPECT_EQ(array->cells.size(), array->runs * levels.size());
      EXPECT_GE(array->strength, std::min<std::size_t>(strength, varying));
      EXPECT_FALSE(findImbalance(*array, array->strength).has_value()) << describe(*array);
      EXPECT_GE(array->runs, bounds(levels, strength).smallest);
      if (options.rows) {
        EXPECT_EQ(array->runs, static_cast<std::uint64_t>(*options.rows));
      }
    } else {
      ++refused;
      const Refusal& refusal = std::get<Refusal>(choice);
      EXPECT_FALSE(refusal.reason.empty());
      EXPECT_LE(refusal.smallestPossible, all);
      const bool full = std::any_of(refusal.offers.begin(), refusal.offers.end(),
                                    [](const Offer& offer) { return offer.kind == Offer::Kind::Full; });
      EXPECT_EQ(full, all <= options.maxRows) << refusal.reason;
    }
  }
  EXPECT_GT(built, 500);
  EXPECT_GT(refused, 250);
}

TEST(Hadamard, RowsAreOrthogonal) {
  for (std::uint32_t n = 1; n <= 300; ++n) {
    const auto h = hadamard(n);
    if (!h) continue;
    for (std::uint32_t a = 0; a < n; ++a) {
      for (std::uint32_t b = a; b < n; ++b) {
        int dot = 0;
        for (std::uint32_t c = 0; c < n; ++c) dot += h->at(a, c) * h->at(b, c);
        ASSERT_EQ(dot, a == b ? static_cast<int>(n) : 0) << h->construction << " rows " << a << ", " << b;
      }
    }
  }
}

TEST(Galois, FieldAxioms) {
  for (std::uint32_t q = 2; q <= 128; ++q) {
    const auto field = Galois::make(q);
    ASSERT_EQ(field.has_value(), primePower(q).has_value()) << q;
    if (!field) continue;
    std::mt19937 random(q);
    for (std::uint32_t a = 0; a < q; ++a) {
      EXPECT_EQ(field->add(a, 0), a);
      EXPECT_EQ(field->multiply(a, 1), a);
      EXPECT_EQ(field->add(a, field->negate(a)), 0U);
      std::vector<bool> seen(q, false);
      for (std::uint32_t b = 0; b < q; ++b) {
        EXPECT_EQ(field->add(a, b), field->add(b, a));
        EXPECT_EQ(field->multiply(a, b), field->multiply(b, a));
        if (a != 0) seen[field->multiply(a, b)] = true;
        const std::uint32_t c = random() % q;
        EXPECT_EQ(field->multiply(a, field->add(b, c)), field->add(field->multiply(a, b), field->multiply(a, c)));
        EXPECT_EQ(field->multiply(a, field->multiply(b, c)), field->multiply(field->multiply(a, b), c));
      }
      if (a != 0) {
        EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(q))
            << q << ": " << a << " has an inverse";
      }
    }
  }
}
