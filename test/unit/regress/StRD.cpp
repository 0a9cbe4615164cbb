// NIST's Statistical Reference Datasets for linear least squares, against exact rational solutions (data/exact.py), which agree
// with NIST's certified values in all their digits.
#include "compiler/design/model/Qr.h"
#include "runtime/regress/Fit.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace tbem;
using regress::Factor;
using regress::Point;

namespace {

struct Set {
  std::vector<double> y;
  std::vector<Point> x;
  std::vector<double> coefficients, errors;
  double residualSd = 0, r2 = 0;
};

Set load(const std::string& name) {
  const std::string base = test::inSources("test/unit/regress/data/" + name);
  Set set;
  std::ifstream data(base + ".csv");
  std::string line;
  while (std::getline(data, line)) {
    if (line.empty() || line[0] == '#' || line[0] == 'y') continue;
    std::stringstream cells(line);
    std::string cell;
    std::getline(cells, cell, ',');
    set.y.push_back(std::stod(cell));
    set.x.emplace_back();
    while (std::getline(cells, cell, ',')) set.x.back().push_back(std::stod(cell));
  }
  std::ifstream exact(base + ".exact");
  double a = 0, b = 0;
  while (exact >> a >> b) {
    set.coefficients.push_back(a);
    set.errors.push_back(b);
  }
  set.residualSd = set.coefficients.back();
  set.r2 = set.errors.back();
  set.coefficients.pop_back();
  set.errors.pop_back();
  return set;
}

std::vector<Factor> factorsOf(const Set& set) {
  std::vector<Factor> factors;
  for (std::size_t f = 0; f < set.x[0].size(); ++f) {
    std::set<double> values;
    for (const Point& point : set.x) values.insert(point[f]);
    factors.push_back({"x" + std::to_string(f + 1), {values.begin(), values.end()}, {}});
  }
  return factors;
}

std::vector<design::Wide> decimals(const std::vector<double>& values) {
  std::vector<design::Wide> wide;
  for (const double value : values) wide.push_back(design::decimal(value));
  return wide;
}

/// Correct decimal digits, 15 where there is no difference.
double digits(double value, double exact) {
  if (value == exact) return 15;
  return std::min(15.0, -std::log10(std::fabs(value - exact) / (exact == 0 ? 1 : std::fabs(exact))));
}

struct Case {
  const char* name;
  std::uint32_t degree;  ///< 0: every column once
  bool throughOrigin = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class StRD : public testing::TestWithParam<Case> {};

}  // namespace

TEST_P(StRD, RawCoefficientsKeepTheirDigits) {
  const auto [name, degree, throughOrigin] = GetParam();
  const Set set = load(name);
  ASSERT_FALSE(set.x.empty());
  const auto factors = factorsOf(set);
  std::vector<std::uint32_t> all(factors.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto model = design::hierarchical(design::poly(factors, all, degree == 0 ? 1 : degree), factors, throughOrigin);
  const auto result = regress::fit(factors, set.x, set.y, model);
  ASSERT_TRUE(result.has_value()) << result.error().text;
  ASSERT_EQ(result->raw.size(), set.coefficients.size());
  double least = 15;
  for (std::size_t i = 0; i < set.coefficients.size(); ++i)
    least = std::min(least, digits(result->raw[i].value, set.coefficients[i]));
  RecordProperty("digits", std::to_string(least));
  std::printf("%s: %.1f digits, condition %.2g\n", name, least, result->condition);
  EXPECT_GE(least, 14);
  if (set.residualSd == 0) {
    EXPECT_LT(*result->residualSd, 1e-9);
    EXPECT_DOUBLE_EQ(*result->r2, 1);
  } else {
    EXPECT_GE(digits(*result->residualSd, set.residualSd), 14);
    EXPECT_GE(digits(*result->r2, set.r2), 14);
  }
}

INSTANTIATE_TEST_SUITE_P(Nist, StRD,
                         testing::Values(Case{"norris", 1}, Case{"pontius", 2}, Case{"noint1", 1, true}, Case{"noint2", 1, true},
                                         Case{"longley", 0}, Case{"filip", 10}, Case{"wampler1", 5}, Case{"wampler2", 5},
                                         Case{"wampler3", 5}, Case{"wampler4", 5}, Case{"wampler5", 5}),
                         [](const auto& info) { return std::string(info.param.name); });

// The solver itself on powers of x: no basis helps it, condition 1.8e15 for Filip.
TEST(StRDRaw, PowersOfXDirectly) {
  for (const auto& [name, degree] : {std::pair{"filip", std::size_t{10}}, {"wampler5", 5}, {"pontius", 2}}) {
    const Set set = load(name);
    design::Matrix x(set.y.size(), degree + 1);
    for (std::size_t r = 0; r < x.rows; ++r) {
      x(r, 0) = 1;
      for (std::size_t d = 1; d <= degree; ++d) x(r, d) = x(r, d - 1) * design::decimal(set.x[r][0]);
    }
    const auto solved = design::leastSquares(x, decimals(set.y), 1e-25);
    ASSERT_EQ(solved.rank, degree + 1) << name;
    for (std::size_t i = 0; i < set.coefficients.size(); ++i) {
      EXPECT_GE(digits(static_cast<double>(solved.coefficients[i]), set.coefficients[i]), 14) << name << " b" << i;
    }
  }
}

// Through the origin, the fitted terms are in the factor's unit, and so is their certified error.
TEST(StRDRaw, NoConstant) {
  for (const char* name : {"noint1", "noint2"}) {
    const Set set = load(name);
    const auto factors = factorsOf(set);
    const auto result = regress::fit(factors, set.x, set.y, design::hierarchical({{{{0, 1}}}}, factors, true));
    ASSERT_TRUE(result.has_value()) << name;
    ASSERT_EQ(result->coefficients.size(), 1U);
    EXPECT_EQ(result->coefficients[0].term, "x1");
    EXPECT_GE(digits(result->coefficients[0].value, set.coefficients[0]), 14) << name;
    EXPECT_GE(digits(*result->coefficients[0].standardError, set.errors[0]), 14) << name;
    const auto at = regress::predict(*result, {0});
    ASSERT_TRUE(at.has_value());
    EXPECT_EQ(at->value, 0);
    EXPECT_EQ(at->leverage, 0);
  }
}

// Three tenths are 0.3 to 33 digits; in doubles they are not to 17.
TEST(Decimal, IsTheShortestThatIsReadAsTheDouble) {
  EXPECT_LT(static_cast<double>(design::absolute(design::decimal(0.1) * 3 - design::decimal(0.3))), 1e-33);
  EXPECT_TRUE(design::decimal(-6.860120914) * 1000000000 == design::Wide(-6860120914.0));
  EXPECT_TRUE(design::decimal(1e22) == design::Wide(1e22) && design::decimal(-0.0) == 0);
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.0, -2.5e-7})
    EXPECT_EQ(static_cast<double>(design::decimal(value)), value);
}

// P1 = (2 x - low - high) / (high - low), so the slope's certified error times (high - low) / 2 is the error of P1's coefficient.
TEST(StRDRaw, StandardErrorOfTheSlope) {
  const Set set = load("norris");
  const auto factors = factorsOf(set);
  const std::vector<std::uint32_t> all{0};
  const auto result = regress::fit(factors, set.x, set.y, design::hierarchical(design::poly(factors, all, 1)));
  ASSERT_TRUE(result.has_value());
  const double half = (factors[0].high() - factors[0].low()) / 2;
  EXPECT_GE(digits(*result->coefficients[1].standardError, set.errors[1] * half), 12);
  const double t34 = 2.032244509317719;  // 97.5 % point of Student's t, 34 degrees of freedom (published tables: 2.0322)
  EXPECT_NEAR(result->coefficients[1].interval->high - result->coefficients[1].value, t34 * set.errors[1] * half, 1e-9);
}
