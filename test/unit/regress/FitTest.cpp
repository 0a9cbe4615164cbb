#include "runtime/regress/Fit.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tbem;
using namespace tbem::regress;
using design::Part;
using design::Term;

namespace {

Factor numeric(const char* name, std::vector<double> values) { return {name, std::move(values), {}}; }
Factor categorical(const char* name, std::vector<std::string> labels) { return {name, {}, std::move(labels)}; }

std::vector<Point> grid(const std::vector<Factor>& factors) {
  std::vector<Point> rows{{}};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    std::vector<Point> next;
    for (const Point& row : rows) {
      for (std::size_t level = 0; level < factors[f].levelCount(); ++level) {
        next.push_back(row);
        next.back().push_back(factors[f].numeric() ? factors[f].values[level] : static_cast<double>(level));
      }
    }
    rows = std::move(next);
  }
  return rows;
}

Model polynomial(const std::vector<Factor>& factors, std::uint32_t degree) {
  std::vector<std::uint32_t> all(factors.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return design::hierarchical(design::poly(factors, all, degree));
}

double rawOf(const Result& result, const std::string& term) {
  for (const RawCoefficient& c : result.raw) {
    if (c.term == term) return c.value;
  }
  ADD_FAILURE() << "no term " << term;
  return NAN;
}

bool warns(const Result& result, Warning::Kind kind) {
  for (const Warning& warning : result.warnings) {
    if (warning.kind == kind) return true;
  }
  return false;
}

}  // namespace

TEST(Fit, RecoversAPolynomialInTheFactorsUnits) {
  const std::vector<Factor> factors{numeric("batch", {4, 8, 16, 32}), numeric("width", {16, 32, 48, 64})};
  const auto rows = grid(factors);
  std::vector<double> y;
  for (const Point& r : rows) y.push_back(7 - 3 * r[0] + 0.5 * r[1] + 0.25 * r[0] * r[0] + 2 * r[0] * r[1] - 0.125 * r[1] * r[1]);
  const auto result = fit(factors, rows, y, polynomial(factors, 2));
  ASSERT_TRUE(result.has_value());
  EXPECT_NEAR(rawOf(*result, "1"), 7, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch"), -3, 1e-12);
  EXPECT_NEAR(rawOf(*result, "width"), 0.5, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch^2"), 0.25, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch*width"), 2, 1e-12);
  EXPECT_NEAR(rawOf(*result, "width^2"), -0.125, 1e-12);
  EXPECT_EQ(result->basis.name(0), "1");
  EXPECT_EQ(result->basis.name(1), "P1(batch)");
  EXPECT_NEAR(*result->looRmse, 0, 1e-9);
  EXPECT_DOUBLE_EQ(*result->r2, 1);
}

// Leave-one-out by leverages equals refitting without the row, and the prediction interval is the textbook's.
TEST(Fit, LeaveOneOutEqualsRefitting) {
  const std::vector<Factor> factors{numeric("x", {1, 2, 4, 7, 11, 16}), numeric("z", {0, 1, 5})};
  const auto rows = grid(factors);
  std::vector<double> y;
  for (std::size_t i = 0; i < rows.size(); ++i) y.push_back(100 + std::sin(3.0 * static_cast<double>(i)) * 10 + rows[i][0]);
  const Model model = polynomial(factors, 2);
  const auto whole = fit(factors, rows, y, model);
  ASSERT_TRUE(whole.has_value());
  double press = 0, size = 0;
  for (std::size_t left = 0; left < rows.size(); ++left) {
    auto fewer = rows;
    auto values = y;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left));
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(left));
    const auto part = fit(factors, fewer, values, model);
    ASSERT_TRUE(part.has_value());
    const double error = y[left] - predict(*part, rows[left])->value;
    EXPECT_NEAR(*whole->looResiduals[left], error, 1e-9);
    press += error * error;
    size += std::fabs(y[left]);
  }
  const auto n = static_cast<double>(rows.size());
  EXPECT_NEAR(*whole->looRmse, std::sqrt(press / n), 1e-9);
  EXPECT_NEAR(*whole->looRelativeError, std::sqrt(press / n) / (size / n), 1e-12);
}

// Draper and Smith's formulas for a straight line.
TEST(Fit, IntervalsOfAStraightLine) {
  const std::vector<Factor> factors{numeric("x", {1, 2, 3, 4, 5})};
  const std::vector<double> y{2.1, 3.9, 6.2, 7.8, 10.1};
  const auto result = fit(factors, grid(factors), y, polynomial(factors, 1));
  ASSERT_TRUE(result.has_value());
  double mean = 0, sxy = 0, sxx = 10, rss = 0;
  for (const double v : y) mean += v / 5;
  for (int i = 0; i < 5; ++i) sxy += (i - 2) * (y[static_cast<std::size_t>(i)] - mean);
  const double slope = sxy / sxx;
  for (int i = 0; i < 5; ++i) rss += std::pow(y[static_cast<std::size_t>(i)] - mean - slope * (i - 2), 2);
  const double s = std::sqrt(rss / 3), t = 3.182446305284263, x0 = 4.5;
  EXPECT_NEAR(rawOf(*result, "x"), slope, 1e-13);
  EXPECT_NEAR(*result->residualSd, s, 1e-13);
  const auto prediction = predict(*result, {x0});
  ASSERT_TRUE(prediction.has_value());
  const double h = 1.0 / 5 + (x0 - 3) * (x0 - 3) / sxx;
  EXPECT_NEAR(prediction->value, mean + slope * (x0 - 3), 1e-12);
  EXPECT_NEAR(prediction->leverage, h, 1e-12);
  EXPECT_NEAR(prediction->interval->high - prediction->value, t * s * std::sqrt(1 + h), 1e-10);
  EXPECT_NEAR(prediction->mean->high - prediction->value, t * s * std::sqrt(h), 1e-10);
  EXPECT_TRUE(prediction->inside);
  const auto outside = predict(*result, {6});
  EXPECT_FALSE(outside->inside);
  EXPECT_EQ(outside->outside.at(0), "`x` = 6 lies above 5, the largest fitted");
}

TEST(Fit, CornerOfTheBoxCanLieOutsideTheRegion) {
  // Rows on the diagonal of the box: an off-diagonal corner has a larger leverage than any row.
  const std::vector<Factor> factors{numeric("a", {0, 1, 2, 3}), numeric("b", {0, 1, 2, 3})};
  const std::vector<Point> rows{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {1, 2}, {2, 1}};
  const std::vector<double> y{1, 2, 3, 5, 4, 6};
  const auto result = fit(factors, rows, y, polynomial(factors, 1));
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(predict(*result, {0, 3})->inside);
  EXPECT_TRUE(predict(*result, {1.5, 1.5})->inside);
}

// Cell means: a categorical factor's effects are means minus the mean of means.
TEST(Fit, SumToZeroContrasts) {
  const std::vector<Factor> factors{categorical("optimizer", {"sgd", "adam", "rmsprop"})};
  const std::vector<Point> rows{{0}, {0}, {1}, {1}, {1}, {2}};
  const std::vector<double> y{1, 3, 10, 11, 12, 30};
  const auto result = fit(factors, rows, y, design::hierarchical({Term{{Part{0, 1}}}}));
  ASSERT_TRUE(result.has_value());
  const double overall = (2.0 + 11 + 30) / 3;
  EXPECT_NEAR(rawOf(*result, "1"), overall, 1e-12);
  EXPECT_NEAR(rawOf(*result, "optimizer[sgd]"), 2 - overall, 1e-12);
  EXPECT_NEAR(rawOf(*result, "optimizer[adam]"), 11 - overall, 1e-12);
  EXPECT_NEAR(rawOf(*result, "optimizer[rmsprop]"), 30 - overall, 1e-12);
  EXPECT_EQ(result->coefficients.size(), 3U);
  EXPECT_FALSE(result->looRmse.has_value());  // without row 6 nothing is known of rmsprop
  EXPECT_NE(result->looReason.find("row 6"), std::string::npos);
}

TEST(Fit, SlopesByLevel) {
  const std::vector<Factor> factors{numeric("batch", {1, 2, 3, 4}), categorical("kind", {"a", "b"})};
  const auto rows = grid(factors);
  std::vector<double> y;
  for (const Point& r : rows) y.push_back(r[1] == 0 ? 10 + 2 * r[0] : 4 + 6 * r[0]);
  const auto result = fit(factors, rows, y, polynomial(factors, 2));
  ASSERT_TRUE(result.has_value());
  EXPECT_NEAR(rawOf(*result, "batch"), 4, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch*kind[a]"), -2, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch*kind[b]"), 2, 1e-12);
  EXPECT_NEAR(rawOf(*result, "kind[a]"), 3, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch^2"), 0, 1e-12);
}

TEST(Fit, RefusesAliasedTermsByName) {
  // Depth {11,13,16,19} is convolutions {8,10,13,16} + 3 in every row.
  const std::vector<Factor> factors{numeric("convolutions", {8, 10, 13, 16}), numeric("depth", {11, 13, 16, 19})};
  const std::vector<Point> rows{{8, 11}, {10, 13}, {13, 16}, {16, 19}, {8, 11}};
  const std::vector<double> y{1, 2, 3, 4, 5};
  const auto result = fit(factors, rows, y, polynomial(factors, 1));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, Refusal::Kind::Aliased);
  ASSERT_EQ(result.error().aliased.size(), 1U);
  EXPECT_EQ(result.error().aliased[0], "P1(depth) = P1(convolutions) in these rows");
}

TEST(Fit, RefusesASquareOfTwoLevels) {
  const std::vector<Factor> factors{numeric("a", {1, 5}), numeric("b", {1, 2, 3})};
  const auto rows = grid(factors);
  const std::vector<double> y{1, 2, 3, 4, 5, 6.5};
  const auto result = fit(factors, rows, y, design::hierarchical({Term{{Part{0, 2}}}}));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().aliased.at(0), "P2(a) = 1 in these rows");
}

// The trap of raw units: a quadratic in 4..32 and 1e8..1e10 has condition 1.7e21 in powers, 5 here.
TEST(Fit, UnlikeScales) {
  const std::vector<Factor> factors{numeric("batch", {4, 8, 16, 32}), numeric("bytes", {1e8, 3e8, 4e9, 1e10})};
  const auto rows = grid(factors);
  std::vector<double> y;
  for (const Point& r : rows) y.push_back(1e6 + 3 * r[0] * r[0] + 1e-3 * r[1] + 2e-9 * r[0] * r[1] + 1e-18 * r[1] * r[1]);
  const auto result = fit(factors, rows, y, polynomial(factors, 2));
  ASSERT_TRUE(result.has_value());
  EXPECT_LT(result->condition, 30);
  EXPECT_NEAR(rawOf(*result, "bytes"), 1e-3, 1e-12);
  EXPECT_NEAR(rawOf(*result, "batch^2"), 3, 1e-6);
  for (const double residual : result->residuals) EXPECT_NEAR(residual, 0, 1e-8);
}

TEST(Fit, HierarchyIsKept) {
  const std::vector<Factor> factors{numeric("a", {1, 2, 3}), numeric("b", {1, 2, 4})};
  const auto rows = grid(factors);
  std::vector<double> y;
  for (const Point& r : rows) y.push_back(r[0] * r[1] + 0.1 * r[0]);
  const Model model = design::hierarchical({Term{{Part{0, 1}, Part{1, 1}}}});
  ASSERT_EQ(model.terms.size(), 4U);
  ASSERT_EQ(model.added.size(), 2U);
  const auto result = fit(factors, rows, y, model);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(warns(*result, Warning::Kind::HierarchyAdded));
  EXPECT_NEAR(rawOf(*result, "a*b"), 1, 1e-12);
}

TEST(Fit, SaturatedAndFewRows) {
  const std::vector<Factor> factors{numeric("a", {1, 2, 3})};
  const auto rows = grid(factors);
  const std::vector<double> y{1, 4, 2};
  const auto saturated = fit(factors, rows, y, polynomial(factors, 2));
  ASSERT_TRUE(saturated.has_value());
  EXPECT_FALSE(saturated->coefficients[0].interval.has_value());
  EXPECT_FALSE(saturated->looRmse.has_value());
  EXPECT_FALSE(saturated->residualSd.has_value());
  EXPECT_EQ(saturated->intervalReason, "3 coefficients from 3 rows leave no degree of freedom for the error");
  EXPECT_FALSE(predict(*saturated, {1.5})->interval.has_value());
  const auto few = fit(factors, rows, y, polynomial(factors, 1));
  ASSERT_TRUE(few.has_value());
  EXPECT_TRUE(warns(*few, Warning::Kind::FewRows));
  const auto tooFew = fit(factors, rows, y, polynomial(factors, 3));
  ASSERT_FALSE(tooFew.has_value());
  EXPECT_EQ(tooFew.error().text, "3 rows cannot determine 4 coefficients");
}

TEST(Fit, RefusesWhatIsNoData) {
  const std::vector<Factor> factors{numeric("a", {1, 2, 3}), categorical("k", {"x", "y"})};
  const Model model = polynomial(factors, 1);
  EXPECT_EQ(fit(factors, {}, {}, model).error().kind, Refusal::Kind::NoRows);
  const std::vector<double> bad{1, NAN, 2, 3}, good{1, 2, 3, 4};
  const std::vector<Point> rows{{1, 0}, {2, 1}, {3, 0}, {1, 1}};
  EXPECT_EQ(fit(factors, rows, bad, model).error().text, "the response of row 2 is not a number");
  const std::vector<Point> wrong{{1, 0}, {2, 2}, {3, 0}, {1, 1}};
  EXPECT_EQ(fit(factors, wrong, good, model).error().text, "row 2 has no level of `k`");
  const auto squared = fit(factors, rows, good, design::hierarchical({Term{{Part{1, 2}}}}));
  EXPECT_EQ(squared.error().text, "`k` is categorical, so it has no power 2");
}

TEST(Fit, ConstantResponse) {
  const std::vector<Factor> factors{numeric("a", {1, 2, 3, 4})};
  const std::vector<double> y(4, 0.1);
  const auto result = fit(factors, grid(factors), y, polynomial(factors, 1));
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(result->r2.has_value());
  EXPECT_TRUE(warns(*result, Warning::Kind::NoSpread));
  EXPECT_NEAR(rawOf(*result, "a"), 0, 1e-16);
}

TEST(Predict, UnseenLevel) {
  const std::vector<Factor> factors{categorical("k", {"x", "y", "z"}), numeric("a", {1, 2, 3})};
  const std::vector<Point> rows{{0, 1}, {0, 2}, {1, 2}, {1, 3}};
  const std::vector<double> y{1, 2, 3, 4};
  const auto notEstimable = fit(factors, rows, y, polynomial(factors, 1));
  ASSERT_FALSE(notEstimable.has_value());  // z's effect cannot be estimated
  EXPECT_EQ(notEstimable.error().kind, Refusal::Kind::Aliased);
  const auto onlyA = fit(factors, rows, y, design::hierarchical({Term{{Part{1, 1}}}}));
  ASSERT_TRUE(onlyA.has_value());
  EXPECT_EQ(predict(*onlyA, {2, 2})->outside.at(0), "no fitted row has `k` = z");
  EXPECT_FALSE(predict(*onlyA, {2, 2})->inside);
  EXPECT_TRUE(predict(*onlyA, {1, 2})->inside);
  EXPECT_FALSE(predict(*onlyA, {3, 2}).has_value());
  EXPECT_FALSE(predict(*onlyA, {0, NAN}).has_value());
}
