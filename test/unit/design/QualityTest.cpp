// Efficiencies, inflation and coincidences of small rows: closed forms, and figures of NumPy 2 for the same matrices.
#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/choose/FoldedArray.h"
#include "compiler/design/verify/Aliases.h"
#include "compiler/design/verify/Verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace tbem::design;

namespace {

Array arrayOf(const std::vector<std::uint32_t>& levels, const std::vector<std::uint32_t>& cells) {
  Array array = blankArray(cells.size() / levels.size(), levels);
  array.cells = cells;
  return array;
}

TEST(Efficiency, TwoFactorsOfTwoLevelsInFourRows) {
  // X'X/4 = [1 0 .5; 0 1 .5; .5 .5 1] up to signs: its determinant is 1/2, the trace of its inverse 5; r^2 = 1/3.
  const Array array = arrayOf({2, 2}, {0, 0, 0, 0, 1, 0, 1, 1});
  const std::vector<Factor> factors{{"a", {}, {"0", "1"}}, {"b", {}, {"0", "1"}}};
  const Basis basis(factors, hierarchical({{{{0, 1}}}, {{{1, 1}}}}).terms);
  const ModelQuality quality = modelQuality(basis, pointsOf(factors, array));
  EXPECT_NEAR(quality.aEfficiency, 0.6, 1e-12);
  EXPECT_NEAR(quality.dEfficiency, std::cbrt(0.5), 1e-12);
  EXPECT_NEAR(quality.inflation, 1.5, 1e-12);
}

TEST(Efficiency, MixedFactorsAsNumPyHasThem) {
  const Array array =
      arrayOf({2, 3, 3}, {0, 0, 0, 0, 1, 2, 0, 2, 1, 1, 0, 2, 1, 1, 0, 1, 2, 1, 0, 0, 1, 1, 1, 1, 1, 2, 2, 0, 2, 0});
  const std::vector<Factor> factors{{"a", {}, {"0", "1"}}, {"b", {}, {"0", "1", "2"}}, {"c", {1, 2, 4}, {"1", "2", "4"}}};
  const Basis basis(factors, hierarchical({{{{0, 1}}}, {{{1, 1}}}, {{{2, 2}}}}).terms);
  const ModelQuality quality = modelQuality(basis, pointsOf(factors, array));
  EXPECT_EQ(quality.rank, 6U);
  EXPECT_NEAR(quality.aEfficiency, 0.9254237288135593, 1e-12);
  EXPECT_NEAR(quality.dEfficiency, 0.9627016018600899, 1e-12);
  EXPECT_NEAR(quality.inflation, 1.1538461538461537, 1e-12);
  EXPECT_EQ(termText(factors, basis.terms()[quality.inflated]), "a");
  const Coincidences coincidences = *rowCoincidences(array);
  EXPECT_EQ(coincidences.squares, 410U);
  EXPECT_EQ(coincidences.least, 380);
}

TEST(Efficiency, OrthogonalArraysHaveTheLeastCoincidencesAndInflateNothing) {
  // Any two rows of L9 agree in one column of 3 levels: 36 pairs, each 9.
  EXPECT_EQ(rowCoincidences(std::get<Array>(chooseArray({3, 3, 3, 3}, 2)))->squares, 324U);
  for (const auto& levels : {std::vector<std::uint32_t>{3, 3, 3, 3}, {2, 3, 3, 3}, {2, 2, 2, 4, 4}, {5, 5, 5}}) {
    Array array = std::get<Array>(chooseArray(levels, 2));
    EXPECT_EQ(static_cast<std::int64_t>(rowCoincidences(array)->squares), rowCoincidences(array)->least);
    std::vector<Factor> factors;
    std::vector<Term> terms;
    for (std::uint32_t f = 0; f < levels.size(); ++f) {
      factors.push_back({std::string(1, static_cast<char>('a' + f)), {}, std::vector<std::string>(levels[f], "x")});
      terms.push_back({{{f, 1}}});
    }
    const Basis basis(factors, hierarchical(terms).terms);
    const ModelQuality quality = modelQuality(basis, pointsOf(factors, array));
    EXPECT_NEAR(quality.aEfficiency, 1, 1e-9);
    EXPECT_NEAR(quality.inflation, 1, 1e-9);
    array.at(0, 0) = (array.at(0, 0) + 1) % levels[0];
    EXPECT_GT(static_cast<std::int64_t>(rowCoincidences(array)->squares), rowCoincidences(array)->least);
    EXPECT_LT(modelQuality(basis, pointsOf(factors, array)).aEfficiency, 1);
  }
}

TEST(FoldedArray, KeepsContrastsOrthogonalAndEveryPair) {
  const Array array = *foldedArray({2, 2, 3, 3, 4}, 4, 2, 100);
  EXPECT_EQ(array.runs, 16U);
  EXPECT_EQ(array.strength, 0U);
  EXPECT_EQ(coverage(array, 2).covered, coverage(array, 2).total);
  const MainEffects effects = mainEffects(array);
  EXPECT_EQ(effects.rank, effects.parameters);
  // Proportional frequencies (Addelman 1962): n_ij n = n_i n_j for the levels of any two factors.
  const auto counts = levelCounts(array);
  for (std::uint32_t f = 0; f < 5; ++f) {
    for (std::uint32_t g = f + 1; g < 5; ++g) {
      for (std::uint32_t i = 0; i < array.levels[f]; ++i) {
        for (std::uint32_t j = 0; j < array.levels[g]; ++j) {
          std::uint64_t both = 0;
          for (std::size_t r = 0; r < array.runs; ++r) both += array.at(r, f) == i && array.at(r, g) == j ? 1 : 0;
          EXPECT_EQ(both * array.runs, counts[f][i] * counts[g][j]);
        }
      }
    }
  }
}

}  // namespace
