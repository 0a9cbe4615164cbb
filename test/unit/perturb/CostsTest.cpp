// Costs over a data set: numbers that are computed by hand, and their text.
#include "runtime/perturb/Costs.h"

#include <gtest/gtest.h>

namespace tbem::perturb {
namespace {

/// Four examples and two gates; the last example has no label, and no example takes the false side of the second gate.
Costs four() {
  Costs costs;
  costs.gates = {"exit", "skip"};
  costs.examples = {{0, 1, 1, 100, {1, -1}}, {1, 2, 1, 300, {0, 1}}, {2, 0, 0, 300, {0, 1}}, {3, -1, 2, 100, {1, -1}}};
  costs.times = {{0, 2, 400, 0.004, 0.1}, {2, 2, 400.5, 0.006, 0.04}};
  return costs;
}

TEST(Costs, AreSummedUp) {
  const CostSummary summary = summarise(four());
  EXPECT_EQ(summary.meanFlops, 200);
  EXPECT_EQ(summary.leastFlops, 100);
  EXPECT_EQ(summary.mostFlops, 300);
  EXPECT_DOUBLE_EQ(*summary.meanSeconds, 0.0025);
  EXPECT_DOUBLE_EQ(*summary.leastSeconds, 0.002);
  EXPECT_DOUBLE_EQ(*summary.mostSeconds, 0.003);
  EXPECT_DOUBLE_EQ(*summary.accuracy, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*summary.coverage, 0.75);
  EXPECT_DOUBLE_EQ(*summary.correlation, 1);
  EXPECT_DOUBLE_EQ(*summary.meanJoules, 0.035);
  EXPECT_DOUBLE_EQ(*summary.leastJoules, 0.02);
  EXPECT_DOUBLE_EQ(*summary.mostJoules, 0.05);
  EXPECT_DOUBLE_EQ(*summary.energyCorrelation, -1);
}

TEST(Costs, LackWhatNobodyKnows) {
  Costs costs = four();
  costs.gates.clear();
  costs.times.clear();
  for (Cost& cost : costs.examples) {
    cost.label = -1;
    cost.decisions.clear();
  }
  const CostSummary summary = summarise(costs);
  EXPECT_FALSE(summary.accuracy);
  EXPECT_FALSE(summary.coverage);
  EXPECT_FALSE(summary.correlation);
  EXPECT_FALSE(summary.meanSeconds);
  EXPECT_FALSE(summary.meanJoules);
  costs.times = {{0, 2, 400, 0.004, {}}, {2, 2, 400, 0.006, {}}};
  EXPECT_FALSE(summarise(costs).correlation);  // FLOPs do not vary
  EXPECT_FALSE(summarise(costs).meanJoules);
  costs.times = {{0, 2, 400, {}, 0.1}, {2, 2, 500, {}, 0.2}};  // without repeats
  EXPECT_FALSE(summarise(costs).meanSeconds);
  EXPECT_DOUBLE_EQ(*summarise(costs).energyCorrelation, 1);
}

TEST(Costs, SharesAreOfWhatAGateDecided) {
  Costs costs = four();
  costs.gates.emplace_back("never");
  for (Cost& cost : costs.examples) cost.decisions.push_back(-1);
  const auto shares = sharesTrue(costs);
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0], 0.5);
  EXPECT_EQ(shares[1], 1);
  EXPECT_FALSE(shares[2]);
}

TEST(Costs, ComeBackFromText) {
  Costs costs = four();
  costs.times[0].seconds = 0.1 + 0.2;
  costs.times[1] = {2, 2, 400.5, {}, 0.3};
  const auto back = costsOfText(textOf(costs));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(textOf(*back), textOf(costs));
  EXPECT_EQ(back->times[0].seconds, 0.1 + 0.2);
  EXPECT_EQ(back->times[0].joules, 0.1);
  EXPECT_FALSE(back->times[1].seconds);
  EXPECT_EQ(back->times[1].joules, 0.3);
  EXPECT_EQ(back->examples[3].label, -1);
  EXPECT_EQ(back->examples[1].decisions, (std::vector<double>{0, 1}));
}

TEST(Costs, RefuseOtherText) {
  for (const char* text :
       {"", "[]", "{}", R"({"gates": [], "examples": [[1]], "times": []})", R"({"gates": 1, "examples": [], "times": []})"})
    EXPECT_FALSE(costsOfText(text)) << text;
}

}  // namespace
}  // namespace tbem::perturb
