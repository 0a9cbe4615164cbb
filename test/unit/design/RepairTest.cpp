#include "compiler/design/cover/Repair.h"

#include "Models.h"
#include "compiler/design/choose/ArrayChoice.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace tbem::design;
using namespace tbem::design::test;

namespace {

const int kWidths[] = {27, 32, 57, 64}, kKernels[] = {2, 3, 4, 5};

bool divides(const std::uint32_t* row) {
  return (kWidths[row[0]] - kKernels[row[1]] + 2 * static_cast<int>(row[2])) % static_cast<int>(row[3] + 1) == 0;
}

/// Width, kernel, padding and stride of a convolution whose steps come out even, and a factor that is free.
Constraints convolution() {
  Constraints rules{{4, 4, 4, 4, 4}, {}};
  for (const auto& row : everyRow({4, 4, 4, 4})) {
    if (!divides(row.data())) rules.forbidden.push_back({{0, row[0]}, {1, row[1]}, {2, row[2]}, {3, row[3]}});
  }
  return rules;
}

std::vector<Factor> convolutionFactors() {
  return {{"width", {27, 32, 57, 64}, {}},
          {"kernel", {2, 3, 4, 5}, {}},
          {"pad", {0, 1, 2, 3}, {}},
          {"stride", {1, 2, 3, 4}, {}},
          {"channels", {1, 2, 3, 4}, {}}};
}

Basis quadratic() {
  std::vector<Term> squares;
  for (std::uint32_t f = 0; f < 5; ++f) squares.push_back({{{f, 2}}});
  return {convolutionFactors(), hierarchical(squares).terms};
}

Basis mainEffectsBasis(const std::vector<std::uint32_t>& levels) {
  std::vector<Factor> factors;
  std::vector<Term> terms;
  for (std::uint32_t f = 0; f < levels.size(); ++f) {
    factors.push_back({"f" + std::to_string(f), {}, {}});
    for (std::uint32_t s = 0; s < levels[f]; ++s) factors.back().labels.push_back(std::to_string(s));
    terms.push_back({{{f, 1}}});
  }
  return {factors, hierarchical(terms).terms};
}

Array arrayOf(const std::vector<std::uint32_t>& levels) { return std::get<Array>(chooseArray(levels, 2)); }

/// log |X'X| of the constant, levels' values and their squares, by elimination.
double logDeterminant(const Array& array, const std::vector<Factor>& factors) {
  std::vector<std::vector<long double>> x;
  for (std::size_t r = 0; r < array.runs; ++r) {
    x.push_back({1});
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const long double v =
          (factors[f].values[array.at(r, f)] - factors[f].values[0]) / (factors[f].values[3] - factors[f].values[0]);
      x.back().push_back(v);
      x.back().push_back(v * v);
    }
  }
  const std::size_t p = x.front().size();
  std::vector<std::vector<long double>> m(p, std::vector<long double>(p, 0));
  for (const auto& row : x) {
    for (std::size_t i = 0; i < p; ++i) {
      for (std::size_t j = 0; j < p; ++j) m[i][j] += row[i] * row[j];
    }
  }
  long double sum = 0;
  for (std::size_t i = 0; i < p; ++i) {
    sum += std::log(m[i][i]);
    for (std::size_t j = i + 1; j < p; ++j) {
      const long double by = m[j][i] / m[i][i];
      for (std::size_t k = i; k < p; ++k) m[j][k] -= by * m[i][k];
    }
  }
  return static_cast<double>(sum);
}

}  // namespace

// 532 of 1024 combinations are valid. Deleting rows of L16(4^5) leaves 7 of rank 7 of 11; relabelling keeps 14.
TEST(Repair, ConvolutionsThatComeOutEven) {
  const Constraints rules = convolution();
  const Array array = arrayOf(rules.levels);
  ASSERT_EQ(array.runs, 16U);
  const Repair choice = repair(array, rules, quadratic(), {});
  const auto* found = std::get_if<Repaired>(&choice);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->rung, Rung::Exchanged);
  EXPECT_EQ(found->array.runs, 16U);
  EXPECT_GE(found->kept, 14U);
  EXPECT_EQ(found->lost, 9U);
  EXPECT_EQ(found->quality.rank, 11U);
  std::set<std::vector<std::uint32_t>> pairs, possible;
  const auto collect = [](std::set<std::vector<std::uint32_t>>& into, const std::uint32_t* row) {
    for (std::uint32_t f = 0; f < 5; ++f) {
      for (std::uint32_t g = f + 1; g < 5; ++g) into.insert({f, row[f], g, row[g]});
    }
  };
  for (std::size_t r = 0; r < 16; ++r) {
    EXPECT_TRUE(divides(found->array.cells.data() + r * 5));
    collect(pairs, found->array.cells.data() + r * 5);
  }
  for (const auto& row : everyRow(rules.levels)) {
    if (divides(row.data())) collect(possible, row.data());
  }
  EXPECT_EQ(found->pairs.covered, pairs.size());
  EXPECT_EQ(found->pairs.total, possible.size());
  const double relative =
      std::exp((logDeterminant(found->array, convolutionFactors()) - logDeterminant(array, convolutionFactors())) / 11);
  EXPECT_GE(relative, 0.95);
  EXPECT_NEAR(found->relative, relative, 1e-9);
  for (const auto& counts : levelCounts(found->array)) {
    for (const std::uint64_t count : counts) EXPECT_TRUE(count >= 2 && count <= 6) << count;
  }
}

TEST(Repair, OtherLabelsMaySuffice) {
  const Constraints rules{{3, 3, 3}, {{{0, 0}, {1, 0}, {2, 0}}}};
  const Array array = arrayOf(rules.levels);
  const Repair choice = repair(array, rules, mainEffectsBasis(rules.levels), {});
  const auto* found = std::get_if<Repaired>(&choice);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->rung, Rung::Relabelled);
  EXPECT_EQ(found->kept, 9U);
  EXPECT_FALSE(findImbalance(found->array, 2).has_value());
  for (std::size_t r = 0; r < found->array.runs; ++r) EXPECT_FALSE(breaks(rules, found->array.row(r).data()));
}

// Five coefficients need five rows: L4 has too few, whatever the constraint.
TEST(Repair, LargerArrayWhereTheModelAsksForIt) {
  const Constraints rules{{2, 2, 2}, {{{0, 1}, {1, 1}}}};
  const Basis mains = mainEffectsBasis(rules.levels);
  const Basis model(mains.factors(), hierarchical({{{{0, 1}, {2, 1}}}, {{{1, 1}}}}).terms);
  ASSERT_EQ(model.size(), 5U);
  const Repair choice = repair(arrayOf(rules.levels), rules, model, {});
  const auto* found = std::get_if<Repaired>(&choice);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->rung, Rung::Larger);
  EXPECT_EQ(found->array.runs, 8U);
  EXPECT_EQ(found->quality.rank, 5U);
  for (std::size_t r = 0; r < found->array.runs; ++r) EXPECT_FALSE(breaks(rules, found->array.row(r).data()));
  RepairOptions fixed;
  fixed.fixedRows = true;
  EXPECT_TRUE(std::holds_alternative<std::string>(repair(arrayOf(rules.levels), rules, model, fixed)));
}

// Two factors that go together in every valid row: no rows tell their effects apart.
TEST(Repair, RefusesWhatNoRowsCanEstimate) {
  Constraints rules{{3, 3, 3}, {}};
  for (std::uint32_t a = 0; a < 3; ++a) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      if (a != b) rules.forbidden.push_back({{0, a}, {1, b}});
    }
  }
  const Repair choice = repair(arrayOf(rules.levels), rules, mainEffectsBasis(rules.levels), {});
  EXPECT_TRUE(std::holds_alternative<std::string>(choice));
}
