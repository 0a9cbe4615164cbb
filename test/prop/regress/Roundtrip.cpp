// Laws of least squares on random designs: what was put in comes out, and intervals cover as often as they say.
#include "compiler/design/choose/ArrayChoice.h"
#include "runtime/regress/Fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace tbem;
using namespace tbem::regress;
using design::Term;

namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1.0p-53;
}

/// Box and Muller; the standard library's normal differs between libraries.
double normal(Random& random) {
  const double u = uniform(random, 1e-300, 1), v = uniform(random, 0, 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
}

std::vector<Factor> randomFactors(Random& random, std::uint32_t levels, std::size_t count) {
  std::vector<Factor> factors;
  for (std::size_t f = 0; f < count; ++f) {
    Factor factor{"f" + std::to_string(f), {}, {}};
    double value = uniform(random, -100, 100);
    const double scale = std::pow(10, uniform(random, -3, 6));
    for (std::uint32_t i = 0; i < levels; ++i) factor.values.push_back(value += scale * uniform(random, 0.3, 1));
    factors.push_back(std::move(factor));
  }
  return factors;
}

std::vector<Point> arrayPoints(const std::vector<Factor>& factors, std::uint32_t strength, bool full = false) {
  std::vector<std::uint32_t> levels;
  for (const Factor& factor : factors) levels.push_back(static_cast<std::uint32_t>(factor.levelCount()));
  design::Options options;
  options.full = full;
  return design::pointsOf(factors, std::get<design::Array>(design::chooseArray(levels, strength, options)));
}

Model polynomial(const std::vector<Factor>& factors, std::uint32_t degree) {
  std::vector<std::uint32_t> all(factors.size());
  std::iota(all.begin(), all.end(), 0U);
  return design::hierarchical(design::poly(factors, all, degree));
}

double monomial(const Term& term, const Point& point) {
  double value = 1;
  for (const design::Part& part : term.parts) value *= std::pow(point[part.factor], part.degree);
  return value;
}

}  // namespace

// Predictions are compared, not coefficients: far from zero a monomial's coefficient alone is meaningless to relative precision.
TEST(Roundtrip, PolynomialsComeBack) {
  Random random(11);
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint32_t levels = trial % 2 == 0 ? 4 : 5;
    const auto factors = randomFactors(random, levels, 3);
    const Model model = polynomial(factors, 2);
    const auto rows = arrayPoints(factors, 2);
    std::vector<double> weights;
    for (const Term& term : model.terms) {
      Point typical;
      for (const Factor& factor : factors) typical.push_back(std::max(std::fabs(factor.low()), std::fabs(factor.high())));
      weights.push_back(normal(random) / monomial(term, typical));
    }
    const auto truth = [&](const Point& point) {
      double sum = 0;
      for (std::size_t t = 0; t < weights.size(); ++t) sum += weights[t] * monomial(model.terms[t], point);
      return sum;
    };
    std::vector<double> y;
    for (const Point& row : rows) y.push_back(truth(row));
    const auto result = fit(factors, rows, y, model);
    ASSERT_TRUE(result.has_value()) << result.error().text;
    ASSERT_EQ(result->raw.size(), weights.size());
    for (int i = 0; i < 20; ++i) {
      Point point;
      for (const Factor& factor : factors) point.push_back(uniform(random, factor.low(), factor.high()));
      double fromRaw = 0;
      for (std::size_t t = 0; t < model.terms.size(); ++t) fromRaw += result->raw[t].value * monomial(model.terms[t], point);
      EXPECT_NEAR(predict(*result, point)->value, truth(point), 1e-12 * 50) << trial;
      EXPECT_NEAR(fromRaw, truth(point), 1e-9) << trial;
    }
  }
}

// Renaming or reordering levels of a categorical factor changes no effect, no fitted value, no error.
TEST(Roundtrip, ContrastsDoNotDependOnTheOrderOfLevels) {
  Random random(5);
  for (int trial = 0; trial < 30; ++trial) {
    const std::vector<std::string> labels{"sgd", "adam", "rmsprop", "adagrad"};
    std::vector<Factor> factors{{"optimizer", {}, labels}, {"batch", {4, 8, 16, 32}, {}}};
    const auto rows = arrayPoints(factors, 2);
    std::vector<double> y;
    for (std::size_t i = 0; i < rows.size(); ++i) y.push_back(normal(random));
    std::vector<std::size_t> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    auto renamed = factors;
    auto moved = rows;
    for (std::size_t level = 0; level < 4; ++level) renamed[0].labels[order[level]] = labels[level];
    for (Point& row : moved) row[0] = static_cast<double>(order[static_cast<std::size_t>(row[0])]);
    const Model model = polynomial(factors, 2);
    const auto a = fit(factors, rows, y, model), b = fit(renamed, moved, y, model);
    ASSERT_TRUE(a.has_value() && b.has_value());
    std::map<std::string, double> effects;
    for (const RawCoefficient& c : a->raw) effects[c.term] = c.value;
    ASSERT_EQ(effects.size(), b->raw.size());
    for (const RawCoefficient& c : b->raw) EXPECT_NEAR(effects.at(c.term), c.value, 1e-12) << c.term;
    for (std::size_t r = 0; r < y.size(); ++r) EXPECT_NEAR(a->fitted[r], b->fitted[r], 1e-12);
    EXPECT_NEAR(*a->looRmse, *b->looRmse, 1e-12);
    EXPECT_NEAR(*a->residualSd, *b->residualSd, 1e-12);
  }
}

// 4000 simulated experiments: 95 % intervals of a coefficient, of the mean and of a new observation cover in 95 % (binomial error
// 0.34 %).
TEST(Roundtrip, IntervalsCoverAtTheNominalRate) {
  Random random(3);
  const std::vector<Factor> factors{{"a", {1, 2, 5, 9}, {}}, {"b", {0, 10, 30, 40}, {}}, {"c", {-1, 0, 2, 3}, {}}};
  const auto rows = arrayPoints(factors, 2);
  const Model model = polynomial(factors, 2);
  const auto truth = [](const Point& p) { return 3 + p[0] - 0.2 * p[1] + 0.1 * p[0] * p[2] + 0.01 * p[1] * p[1]; };
  const Point at{4, 20, 1};
  std::vector<double> clean;
  for (const Point& row : rows) clean.push_back(truth(row));
  const auto exact = fit(factors, rows, clean, model);
  ASSERT_TRUE(exact.has_value());
  constexpr int kTrials = 4000;
  int coefficient = 0, mean = 0, fresh = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> y = clean;
    for (double& v : y) v += 2 * normal(random);
    const auto result = fit(factors, rows, y, model);
    const auto prediction = predict(*result, at);
    const auto covers = [](const Interval& interval, double value) { return interval.low <= value && value <= interval.high; };
    coefficient += covers(*result->coefficients[4].interval, exact->coefficients[4].value);
    mean += covers(*prediction->mean, truth(at));
    fresh += covers(*prediction->interval, truth(at) + 2 * normal(random));
  }
  for (const int covered : {coefficient, mean, fresh}) EXPECT_NEAR(covered / static_cast<double>(kTrials), 0.95, 4 * 0.0034);
}

// Leverages sum to the number of coefficients; scaling and shifting the response scales and shifts the fit.
TEST(Roundtrip, LeveragesAndEquivariance) {
  Random random(23);
  for (int trial = 0; trial < 40; ++trial) {
    const auto factors = randomFactors(random, 4, 3);
    const auto rows = arrayPoints(factors, 2, trial % 2 == 0);
    std::vector<double> y, scaled;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      y.push_back(normal(random));
      scaled.push_back(1000 - 7 * y.back());
    }
    const auto a = fit(factors, rows, y, polynomial(factors, 2)), b = fit(factors, rows, scaled, polynomial(factors, 2));
    ASSERT_TRUE(a.has_value() && b.has_value());
    EXPECT_NEAR(std::accumulate(a->leverages.begin(), a->leverages.end(), 0.0), 10, 1e-10);
    EXPECT_NEAR(*a->r2, *b->r2, 1e-11);
    EXPECT_NEAR(*b->looRmse, 7 * *a->looRmse, 1e-9);
    for (std::size_t r = 0; r < rows.size(); ++r) EXPECT_NEAR(b->fitted[r], 1000 - 7 * a->fitted[r], 1e-9);
  }
}
