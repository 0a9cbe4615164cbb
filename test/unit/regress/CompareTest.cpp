// Contrasts of fits: the studentized range against SciPy 1.17 (scipy.stats.studentized_range.ppf), and intervals by hand.
#include "runtime/regress/Compare.h"
#include "runtime/regress/StudentT.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tbem;
using regress::Factor;
using regress::Point;

namespace {

TEST(StudentizedRange, AgreesWithSciPy) {
  struct Row {
    std::size_t groups;
    double degrees, probability, q;
  };
  for (const Row& row :
       {Row{2, 1, 0.95, 17.969287064187434}, Row{2, 1, 0.995, 180.05956081374168}, Row{2, 5, 0.99, 5.7023112927712685},
        Row{3, 2, 0.95, 8.330782645637044}, Row{3, 10, 0.95, 3.876776750013158}, Row{3, 26, 0.995, 4.91086745843387},
        Row{5, 60, 0.95, 3.977418221605432}, Row{10, 3, 0.99, 16.690809117589588}, Row{4, 1000, 0.95, 3.63927523487881}}) {
    EXPECT_NEAR(regress::studentizedRangeQuantile(row.probability, row.groups, row.degrees) / row.q, 1, 1e-8)
        << row.groups << " groups, " << row.degrees << " degrees, " << row.probability;
    EXPECT_NEAR(regress::studentizedRangeCdf(row.q, row.groups, row.degrees), row.probability, 1e-8);
  }
}

TEST(StudentizedRange, OfTwoMeansIsStudentsT) {
  for (const double degrees : {1.0, 4.0, 30.0, 200.0}) {
    const double q = regress::studentizedRangeQuantile(0.95, 2, degrees);
    EXPECT_NEAR(q / (std::sqrt(2) * regress::studentQuantile(0.975, degrees)), 1, 1e-8) << degrees;
  }
}

regress::Result lineOf(const std::vector<double>& response) {
  Factor x;
  x.name = "x";
  x.values = {1, 2, 3, 4, 5};
  std::vector<Point> rows;
  for (const double value : x.values) rows.push_back({value});
  const std::vector<Factor> factors = {x};
  const std::vector<std::uint32_t> all = {0};
  auto fit = regress::fit(factors, rows, response, design::hierarchical(design::poly(factors, all, 1), factors));
  EXPECT_TRUE(fit.has_value());
  return *fit;
}

// Two lines on -1, -0.5, 0, 0.5, 1 with residuals of 0.1 (1, -2, 0, 2, -1) each, which are orthogonal to both columns:
// RSS 0.1 each, s^2 = 0.2 / 6; sum of x^2 is 2.5. Means 3 and 5, slopes 1 and 4 per unit of -1 to 1.
TEST(Contrasts, AreThoseByHand) {
  const std::vector<double> wiggle = {0.1, -0.2, 0, 0.2, -0.1};
  std::vector<double> a, b;
  for (int i = 0; i < 5; ++i) {
    const double x = -1 + 0.5 * i;
    a.push_back(3 + x + wiggle[static_cast<std::size_t>(i)]);
    b.push_back(5 + 4 * x + wiggle[static_cast<std::size_t>(i)]);
  }
  const std::vector<regress::Result> fits = {lineOf(a), lineOf(b)};
  const auto contrasts = regress::contrasts(fits);
  ASSERT_TRUE(contrasts.has_value()) << contrasts.error();
  ASSERT_EQ(contrasts->size(), 2u);
  const double s = std::sqrt(0.2 / 6);
  // Two families at 1 - 0.05 / 2, each of one pair: Student's t at 1 - 0.0125 with 6 degrees.
  const double t = regress::studentQuantile(1 - 0.0125, 6);
  const auto& mean = (*contrasts)[0];
  EXPECT_EQ(mean.term, "");
  EXPECT_NEAR(mean.difference, -2, 1e-12);
  EXPECT_NEAR(mean.interval.high, -2 + t * s * std::sqrt(2.0 / 5), 1e-7);
  EXPECT_TRUE(mean.differs());
  const auto& slope = (*contrasts)[1];
  EXPECT_EQ(slope.term, "P1(x)");
  EXPECT_NEAR(slope.difference, -3, 1e-12);
  EXPECT_NEAR(slope.interval.low, -3 - t * s * std::sqrt(2 / 2.5), 1e-7);
}

TEST(Contrasts, EqualFitsDoNotDiffer) {
  const std::vector<regress::Result> fits = {lineOf({1, 2.1, 2.9, 4.2, 5}), lineOf({1.1, 2, 3, 4.1, 5.1}),
                                             lineOf({1, 2, 3.1, 4, 5})};
  const auto contrasts = regress::contrasts(fits);
  ASSERT_TRUE(contrasts.has_value());
  EXPECT_EQ(contrasts->size(), 6u);
  for (const regress::Contrast& contrast : *contrasts) EXPECT_FALSE(contrast.differs()) << contrast.term;
}

TEST(Contrasts, WhatCannotBeComparedIsSaid) {
  const std::vector<regress::Result> one = {lineOf({1, 2, 3, 4, 5.1})};
  EXPECT_EQ(regress::contrasts(one).error(), "one fit has nothing to be compared with");
  std::vector<regress::Result> other = {one.front(), one.front()};
  other[1].rows = 4;
  EXPECT_EQ(regress::contrasts(other).error(), "the fits are not of one model on the same rows");
  other[1].rows = 5;
  other[1].residualDegrees = 0;
  EXPECT_EQ(regress::contrasts(other).error(), "with as many coefficients as rows nothing says how large errors are");
}

}  // namespace
