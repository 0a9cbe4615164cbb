// Effects of blocks beside a model's terms, against closed forms and the fit that has both.
#include "runtime/regress/Blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace tbem;
using namespace tbem::regress;

namespace {

const std::vector<Factor> kFactors = {{"x", {1, 2, 3, 4, 5, 6}, {}}, {"kind", {}, {"a", "b", "c"}}};

Model model(bool throughOrigin = false) {
  return design::hierarchical({{{{0, 1}}}, {{{0, 2}}}, {{{1, 1}}}}, kFactors, throughOrigin);
}

/// Of 18 rows, each pair of levels once.
Point placeOf(std::uint32_t row) {
  const std::uint32_t kind = row / 6;
  return {1.0 + row % 6, static_cast<double>(kind)};
}

double truth(const Point& row) { return 2 + 3 * row[0] - 0.25 * row[0] * row[0] + 5 * row[1]; }

/// Without noise the effects are what was added, whatever rows stand in which block.
TEST(Blocks, EffectsAreFoundExactly) {
  const std::vector<double> added = {1.5, -0.5, -1};
  std::vector<Point> rows;
  std::vector<double> response;
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < 18; ++i) {
    rows.push_back(placeOf(i));
    blocks.push_back((i * i + i / 5) % 3);
    response.push_back(truth(rows.back()) + added[blocks.back()]);
  }
  const auto effects = blockEffects(kFactors, rows, response, model(), blocks, 3);
  ASSERT_TRUE(effects) << effects.error().text;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR((*effects)[i], added[i], 1e-12);
  EXPECT_NEAR(std::accumulate(effects->begin(), effects->end(), 0.0), 0, 1e-12);
}

/// Rows that were observed in both blocks: half the mean difference within rows, whatever the model lacks.
TEST(Blocks, WithinRowsTheyAreHalfTheMeanDifference) {
  std::vector<Point> rows;
  std::vector<double> response;
  std::vector<std::uint32_t> blocks;
  double difference = 0;
  for (std::uint32_t i = 0; i < 18; ++i) {
    const Point row = placeOf(i);
    const double first = truth(row) + std::sin(7.0 * i), second = first + 1 + std::cos(3.0 * i);
    rows.insert(rows.end(), {row, row});
    response.insert(response.end(), {first, second});
    blocks.insert(blocks.end(), {0, 1});
    difference += (second - first) / 18;
  }
  const auto effects = blockEffects(kFactors, rows, response, model(), blocks, 2);
  ASSERT_TRUE(effects);
  EXPECT_NEAR((*effects)[1], difference / 2, 1e-12);
  EXPECT_NEAR((*effects)[0], -difference / 2, 1e-12);
}

/// The fit to what is left, with the blocks as nuisance, has all numbers of the fit with both.
TEST(Blocks, WhatIsLeftFitsAsWithBoth) {
  std::vector<Point> rows, withBlock;
  std::vector<double> response;
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < 18; ++i) {
    rows.push_back(placeOf(i));
    blocks.push_back((i * i) % 5 == 0 ? 1 : 0);
    withBlock.push_back(rows.back());
    withBlock.back().push_back(blocks.back());
    response.push_back(truth(rows.back()) + 0.5 * blocks.back() + 0.1 * std::sin(5.0 * i));
  }
  const auto effects = blockEffects(kFactors, rows, response, model(), blocks, 2);
  ASSERT_TRUE(effects);
  std::vector<double> left = response;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= (*effects)[blocks[i]];
  std::vector<double> share;
  share.reserve(blocks.size());
  for (const std::uint32_t block : blocks) share.push_back(block == 0 ? 1 : -1);
  const auto alone = fit(kFactors, rows, left, model(), 0.95, {share});
  std::vector<Factor> all = kFactors;
  all.push_back({"card", {}, {"0", "1"}});
  const auto both = fit(all, withBlock, response, design::hierarchical({{{{0, 1}}}, {{{0, 2}}}, {{{1, 1}}}, {{{2, 1}}}}, all));
  ASSERT_TRUE(alone && both);
  EXPECT_EQ(alone->residualDegrees, both->residualDegrees);
  EXPECT_NEAR(*alone->residualSd, *both->residualSd, 1e-13);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(alone->residuals[i], both->residuals[i], 1e-13);
  EXPECT_NEAR(*alone->looRmse, *both->looRmse, 1e-12);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(alone->leverages[i], both->leverages[i], 1e-12);
  for (const Coefficient& coefficient : alone->coefficients) {
    for (const Coefficient& other : both->coefficients) {
      if (other.term != coefficient.term) continue;
      EXPECT_NEAR(*coefficient.standardError, *other.standardError, 1e-12) << coefficient.term;
      EXPECT_NEAR(coefficient.interval->low, other.interval->low, 1e-11) << coefficient.term;
    }
  }
  // A column that depends on the others takes nothing.
  const auto twice = fit(kFactors, rows, left, model(), 0.95, {share, share, std::vector<double>(rows.size(), 0)});
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->residualDegrees, alone->residualDegrees);
  for (const RawCoefficient& coefficient : alone->raw) {
    for (const RawCoefficient& other : both->raw) {
      if (other.term == coefficient.term) {
        EXPECT_NEAR(coefficient.value, other.value, 1e-12) << coefficient.term;
      }
    }
  }
}

TEST(Blocks, SharesSayInWhichARowIs) {
  const std::vector<InBlock> observations = {{0, 0}, {0, 1}, {0, 2}, {1, 2}, {1, 2}, {2, 0}, {2, 0}, {2, 1}, {2, 2}};
  const Nuisance shares = blockShares(observations, 3, 3);
  EXPECT_EQ(shares, (Nuisance{{0, -1, 0.25}, {0, -1, 0}}));
}

/// A block for each level of a factor cannot be told from it.
TEST(Blocks, ThatAreAFactorsLevelsAreRefused) {
  std::vector<Point> rows;
  std::vector<double> response;
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < 18; ++i) {
    rows.push_back(placeOf(i));
    blocks.push_back(i / 6);
    response.push_back(truth(rows.back()));
  }
  const auto effects = blockEffects(kFactors, rows, response, model(), blocks, 3);
  ASSERT_FALSE(effects);
  EXPECT_EQ(effects.error().kind, Refusal::Kind::Aliased);
}

}  // namespace
