#include "compiler/design/verify/Aliases.h"
#include "compiler/design/verify/Checks.h"

#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/field/Hadamard.h"
#include "compiler/design/field/RaoHamming.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace tbem;
using namespace tbem::design;

namespace {

Factor numeric(const char* name, std::vector<double> values) { return {name, std::move(values), {}}; }

Model polynomial(const std::vector<Factor>& factors, std::uint32_t degree) {
  std::vector<std::uint32_t> all(factors.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return hierarchical(poly(factors, all, degree));
}

Array array(const std::vector<std::uint32_t>& levels, std::uint32_t strength, bool full = false) {
  Options options;
  options.full = full;
  return std::get<Array>(chooseArray(levels, strength, options));
}

}  // namespace

TEST(MainEffects, OrthogonalArrayHasConditionOne) {
  const MainEffects effects = mainEffects(array({4, 4, 4}, 2));
  EXPECT_EQ(effects.parameters, 10U);
  EXPECT_EQ(effects.rank, 10U);
  EXPECT_NEAR(effects.condition, 1, 1e-7);
}

// Three columns of L9(3^3): each main effect (2 degrees of freedom) lies in the interaction of the others.
TEST(Aliases, NineRuns) {
  const auto aliases = mainEffectAliases(array({3, 3, 3}, 2), {"batch", "template", "optimizer"});
  ASSERT_EQ(aliases.size(), 3U);
  EXPECT_NEAR(aliases[0].share, 1, 1e-12);
  EXPECT_EQ(aliases[0].text, "the main effect of `batch` is aliased completely with `template` x `optimizer`");
}

// Plackett and Burman: a main effect has correlation +-1/3 with every two-factor interaction of the others.
TEST(Aliases, TwelveRunsArePartial) {
  const auto aliases = mainEffectAliases(*hadamardArray(12, 5), {"a", "b", "c", "d", "e"});
  EXPECT_EQ(aliases.size(), 30U);
  for (const Alias& alias : aliases) EXPECT_NEAR(alias.share, 1.0 / 9, 1e-12);
  EXPECT_EQ(aliases[0].text, "the main effect of `a` is aliased to 11 % with `b` x `c`");
}

TEST(Aliases, StrengthThreeIsClear) {
  EXPECT_TRUE(mainEffectAliases(array(std::vector<std::uint32_t>(4, 2), 3), {"a", "b", "c", "d"}).empty());
}

TEST(Quality, Table1Quadratic) {
  const std::vector<Factor> factors{numeric("batch", {4, 8, 16, 32}), numeric("depth", {11, 13, 16, 19}),
                                    numeric("width", {16, 32, 48, 64})};
  const Basis basis(factors, polynomial(factors, 2).terms);
  const Array l16 = array({4, 4, 4}, 2);
  const ModelQuality part = modelQuality(basis, pointsOf(factors, l16));
  EXPECT_EQ(part.parameters, 10U);
  EXPECT_EQ(part.rank, 10U);
  EXPECT_GT(part.dEfficiency, 0.5);
  EXPECT_LT(part.dEfficiency, 1);
  double sum = 0;
  for (const double leverage : part.leverages) sum += leverage;
  EXPECT_NEAR(sum, 10, 1e-9);
  const ModelQuality whole = modelQuality(basis, pointsOf(factors, array({4, 4, 4}, 2, true)));
  EXPECT_NEAR(whole.dEfficiency, 1, 1e-9);
}

// Two-level main effects: an orthogonal array carries as much a row as the full factorial; four of its rows less carry less.
TEST(Quality, DEfficiencyOfMainEffects) {
  std::vector<Factor> factors;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) factors.push_back(numeric(name, {0, 10}));
  const Basis basis(factors, polynomial(factors, 1).terms);
  auto points = pointsOf(factors, array(std::vector<std::uint32_t>(7, 2), 2));
  EXPECT_NEAR(modelQuality(basis, points).dEfficiency, 1, 1e-12);
  auto more = points;
  more.push_back(points[0]);  // |X'X| = 8^8 (1 + 1) on 9 rows: (2 (8/9)^8)^(1/8)
  EXPECT_NEAR(modelQuality(basis, more).dEfficiency, std::pow(2.0, 1.0 / 8) * 8 / 9, 1e-12);
  points.pop_back();
  const ModelQuality short7 = modelQuality(basis, points);
  EXPECT_EQ(short7.rank, 7U);
  EXPECT_EQ(short7.dEfficiency, 0);
  EXPECT_EQ(short7.dependent.size(), 1U);
}

TEST(Quality, PaperTableIsRankDeficient) {
  // Depth {11,13,16,19} = convolutions {8,10,13,16} + 3: the published table's columns determine each other.
  const std::vector<Factor> factors{numeric("convolutions", {8, 10, 13, 16}), numeric("depth", {11, 13, 16, 19}),
                                    numeric("dense", {1, 2, 3, 4})};
  std::vector<Point> points;
  for (int i = 0; i < 16; ++i) points.push_back({factors[0].values[i / 4], factors[1].values[i / 4], factors[2].values[i % 4]});
  const ModelQuality quality = modelQuality(Basis(factors, polynomial(factors, 1).terms), points);
  EXPECT_EQ(quality.parameters, 4U);
  EXPECT_EQ(quality.rank, 3U);
  EXPECT_EQ(quality.dependent.at(0), "P1(depth) = P1(convolutions) in these rows");
  const auto found = dependences(factors, points);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].linear && found[0].mutual);
  EXPECT_EQ(found[0].text, "`depth` = `convolutions` + 3 in every row");
}

TEST(Dependences, TablesAndDirections) {
  const std::vector<Factor> factors{numeric("a", {1, 2, 3}), numeric("b", {5, 5.5, 8}), {"kind", {}, {"x", "y"}}};
  const std::vector<Point> points{{1, 5, 0}, {2, 5.5, 0}, {3, 8, 1}, {3, 8, 1}};
  const auto found = dependences(factors, points);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].text, "`a` and `b` determine each other in every row (1 with 5, 2 with 5.5, 3 with 8)");
  EXPECT_EQ(found[1].text, "`a` determines `kind` in every row (1 with x, 2 with x, 3 with y)");
  EXPECT_FALSE(found[1].mutual);
  const std::vector<Factor> halves{numeric("a", {1, 2, 3}), numeric("b", {0.5, 1, 1.5})};
  EXPECT_EQ(dependences(halves, {{1, 0.5}, {2, 1}, {3, 1.5}}).at(0).text, "`b` = 0.5 `a` in every row");
}

TEST(Terms, PolyAndHierarchy) {
  const std::vector<Factor> factors{numeric("a", {1, 2, 3}), {"k", {}, {"x", "y"}}, numeric("b", {1, 2, 3})};
  const std::vector<std::uint32_t> all{0, 1, 2};
  std::vector<std::string> names;
  for (const Term& term : poly(factors, all, 2)) names.push_back(termText(factors, term));
  EXPECT_EQ(names, (std::vector<std::string>{"1", "a", "k", "b", "a^2", "a*k", "a*b", "k*b", "b^2"}));
  const Model model = hierarchical({Term{{{0, 2}, {2, 1}}}});
  names.clear();
  for (const Term& term : model.terms) names.push_back(termText(factors, term));
  EXPECT_EQ(names, (std::vector<std::string>{"1", "a", "b", "a^2", "a*b", "a^2*b"}));
  EXPECT_EQ(multiply(factors, Term{{{0, 1}, {1, 1}}}, Term{{{0, 1}, {1, 1}, {2, 1}}}), (Term{{{0, 2}, {1, 1}, {2, 1}}}));
}

// Legendre polynomials are orthogonal: integral over [-1, 1] of P_m P_n is 0 or 2 / (2 n + 1); exact by Simpson on a fine grid to
// 1e-9.
TEST(Basis, LegendreIsOrthogonal) {
  const int steps = 2000;
  for (std::uint32_t m = 0; m < 7; ++m) {
    for (std::uint32_t n = 0; n <= m; ++n) {
      double sum = 0;
      for (int i = 0; i <= steps; ++i) {
        const double x = -1 + 2.0 * i / steps;
        sum += (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2) * legendre(m, x) * legendre(n, x);
      }
      EXPECT_NEAR(sum * 2.0 / steps / 3, m == n ? 2.0 / (2 * n + 1) : 0, 1e-8);
    }
  }
}

TEST(Checks, OfTable1) {
  const std::vector<Factor> factors{numeric("batch", {4, 8, 16, 32}), numeric("depth", {11, 13, 16, 19}),
                                    numeric("width", {16, 32, 48, 64})};
  const Checks checks = checkArray(factors, array({4, 4, 4}, 2));
  EXPECT_EQ(checks.strength, 2U);
  EXPECT_FALSE(checks.imbalance.has_value());
  EXPECT_EQ(checks.duplicateRows, 0U);
  EXPECT_EQ(checks.pairs.covered, 48U);
  EXPECT_EQ(checks.wordLengths,
            (std::vector<Rational>{Rational::of(1), Rational::of(0), Rational::of(0), Rational::of(3)}));  // 4^3 / 16 - 1
  EXPECT_EQ(checks.mainEffects->rank, 10U);
  EXPECT_EQ(checks.aliases.size(), 3U);
  EXPECT_TRUE(checks.dependences.empty());
  const Checks one = checkArray({}, array({}, 2));
  EXPECT_EQ(one.mainEffects->rank, 1U);
}

// Half of 2^3 with c = a b: the interaction is c's effect (sign by the labels); Plackett and Burman's twelve runs: a third of it.
TEST(Biases, OfTwoLevelArrays) {
  std::vector<Factor> factors;
  for (const char* name : {"a", "b", "c", "d", "e"}) factors.push_back(numeric(name, {0, 10}));
  const std::vector<Factor> three(factors.begin(), factors.begin() + 3);
  const auto half =
      biases(Basis(three, polynomial(three, 1).terms), {Term{{{0, 1}, {1, 1}}}}, pointsOf(three, array({2, 2, 2}, 2)));
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0].biased, "P1(c)");
  EXPECT_NEAR(std::fabs(half[0].weight), 1, 1e-14);
  EXPECT_TRUE(half[0].hidden);
  const auto twelve =
      biases(Basis(factors, polynomial(factors, 1).terms), {Term{{{0, 1}, {1, 1}}}}, pointsOf(factors, *hadamardArray(12, 5)));
  ASSERT_EQ(twelve.size(), 3U);
  for (const Bias& bias : twelve) EXPECT_NEAR(std::fabs(bias.weight), 1.0 / 3, 1e-14);
  EXPECT_FALSE(twelve[0].hidden);
  EXPECT_TRUE(
      biases(Basis(three, polynomial(three, 1).terms), {Term{{{0, 1}, {1, 1}}}}, pointsOf(three, array({2, 2, 2}, 2, true)))
          .empty());
}
