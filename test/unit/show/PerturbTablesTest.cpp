// What is said of methods that search for slow inputs: the tables, the sentence under them, the curves.
#include "compiler/show/TextOut.h"
#include "compiler/show/perturb/PerturbTables.h"
#include "runtime/report/Numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::driver {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Examples that cost 2 each, and points that cost what is given; `most` is 10.
MethodResult resultOf(const std::string& word, const std::vector<double>& costs) {
  MethodResult result;
  result.series.word = word;
  result.series.text = word + "(steps: 30)";
  for (const double cost : costs) {
    perturb::Point point;
    point.example = static_cast<std::int64_t>(result.series.points.size());
    point.flopsBefore = 2e6;
    point.flops = cost * 1e6;
    result.series.points.push_back(point);
  }
  perturb::Summary& summary = result.summary;
  summary.examples = static_cast<std::int64_t>(costs.size());
  summary.flopsBefore = 2e6;
  for (const double cost : costs) {
    summary.flops += cost * 1e6 / static_cast<double>(costs.size());
    summary.meanIncrease += (cost - 2) / 2 / static_cast<double>(costs.size());
    summary.mostIncrease = std::max(summary.mostIncrease, (cost - 2) / 2);
    summary.raised += cost > 2 ? 1 : 0;
  }
  summary.headroom = (summary.flops - 2e6) / 8e6;
  return result;
}

TEST(PerturbVerdict, SaysWhatTheBestMethodDidAndHowFarNoiseComes) {
  const std::vector<MethodResult> results = {resultOf("random", {2, 2, 2, 3}), resultOf("gradient", {2, 4, 6, 6}),
                                             resultOf("ilfo", {2, 3, 3, 3})};
  // (0 + 1 + 2 + 2) / 4 = 125 %; 2.5 of 8; noise 12.5 %, a tenth of it.
  EXPECT_EQ(verdictText(results),
            "gradient(steps: 30) slows the network most: an example costs 125 % more in the mean and takes 31.2 % of its "
            "head-room; random noise reaches 10 % of that increase");
}

TEST(PerturbVerdict, WithoutNoiseItComparesWithNone) {
  const std::vector<MethodResult> results = {resultOf("gradient", {4, 4})};
  EXPECT_EQ(
      verdictText(results),
      "gradient(steps: 30) slows the network most: an example costs 100 % more in the mean and takes 25 % of its head-room");
}

TEST(PerturbVerdict, SaysWhenNoiseIsBest) {
  const std::vector<MethodResult> results = {resultOf("gradient", {2, 2}), resultOf("random", {2, 4})};
  EXPECT_TRUE(verdictText(results).ends_with(", so no method does more than random noise"));
}

TEST(PerturbVerdict, SaysWhenNoiseMakesExamplesCheaper) {
  const std::vector<MethodResult> results = {resultOf("gradient", {4, 4}), resultOf("random", {2, 1})};
  EXPECT_TRUE(verdictText(results).ends_with("; random noise raises nothing in the mean"));
}

TEST(PerturbVerdict, SaysWhenNothingIsSlower) {
  const std::vector<MethodResult> results = {resultOf("gradient", {2, 2}), resultOf("random", {2, 1})};
  EXPECT_EQ(verdictText(results), "no method makes an example cost more in the mean");
  EXPECT_EQ(verdictText({}), "");
  const std::vector<MethodResult> none = {resultOf("gradient", {})};
  EXPECT_EQ(verdictText(none), "");
}

TEST(PerturbCrossover, IsAgainstTheStrongestThatSearchesAlone) {
  std::vector<MethodResult> results = {resultOf("random", {2, 9}), resultOf("gradient", {4, 4}), resultOf("ilfo", {6, 6}),
                                       resultOf("generator", {8, 8}), resultOf("universal", {3, 3})};
  const double seconds[] = {1e-6, 0.1, 0.5, 0.1, 0.7};
  for (std::size_t i = 0; i < results.size(); ++i) results[i].summary.secondsOfExample = seconds[i];
  results[3].series.learning = 20.1;
  results[4].series.learning = 5;
  // 20.1 / (0.5 - 0.1) = 50.25
  EXPECT_EQ(crossoverText(results),
            "generator(steps: 30) takes less time than ilfo(steps: 30) from 51 examples on, its learning included\n"
            "universal(steps: 30) takes as long for an example as ilfo(steps: 30) and more, beside its learning\n");
  results[3].series.learning = 0;  // its points were stored
  results[4].series.learning = 0;
  EXPECT_EQ(crossoverText(results), "");
  results.erase(results.begin() + 1, results.begin() + 3);
  results[1].series.learning = 20;
  EXPECT_EQ(crossoverText(results), "") << "nothing searches for each example by itself";
}

TEST(PerturbTables, FitATerminalOf120Columns) {
  std::vector<MethodResult> results = {resultOf("gradient", {2, 4})};
  perturb::Summary& summary = results.front().summary;
  summary.mostIncrease = 45.506;
  summary.examples = summary.raised = 100'000;
  summary.accuracyBefore = summary.accuracy = summary.kept = 0.98765;
  summary.linf = 0.030001;
  summary.l2 = 12.3456;
  summary.psnr = 31.8421;
  summary.ssim = 0.98765;
  summary.latency.mean = summary.latency.most = 12.3456;
  summary.latency.correlation = -0.98765;
  summary.secondsOfExample = 0.0123456;
  summary.energy = {100'000, 0.0123456, 0.0654321, 12.3456, 45.678, -0.98765};
  results.front().series.learning = 3723;
  show::TextOut out;
  printMethods(out, "slow", results);
  std::istringstream lines(out.all());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::displayWidth(line), 120U) << line;
  for (const char* cell :
       {"I-latency mean", "4551 %", "31.84 dB", "0.9877", "12.35 ms", "1 h 2 min", "I-energy mean", "65.43 mJ", "1887"})
    EXPECT_TRUE(has(out.all(), cell)) << cell;
}

TEST(PerturbTables, ABatteryLastsForFewerPoints) {
  EXPECT_EQ(batteryLeft({.before = 1, .after = 4}), 2500);
  EXPECT_FALSE(batteryLeft({}));
}

TEST(PerturbTables, LatencyHasColumnsWhereItWasMeasured) {
  const std::vector<MethodResult> results = {resultOf("gradient", {2, 4})};
  show::TextOut out;
  printMethods(out, "slow", results);
  EXPECT_FALSE(has(out.all(), "latency"));
  EXPECT_TRUE(has(out.all(), "search of an example"));
}

TEST(PerturbCurves, AreTheSharesOfExamplesThatCostNoMore) {
  const std::vector<MethodResult> results = {resultOf("random", {3, 2, 3, 5})};
  const report::Plot plot = costCurves("slow", results);
  ASSERT_EQ(plot.series.size(), 2U);
  EXPECT_EQ(plot.series[0].name, "before");
  EXPECT_EQ(plot.series[1].name, "random(steps: 30)");
  std::vector<std::pair<double, double>> corners;
  for (const report::Point& point : plot.series[1].points) corners.emplace_back(point.x, point.y);
  const std::vector<std::pair<double, double>> expected = {{2e6, 0},    {2e6, 0.25}, {3e6, 0.25},
                                                           {3e6, 0.75}, {5e6, 0.75}, {5e6, 1}};
  EXPECT_EQ(corners, expected);
}

}  // namespace
}  // namespace tbem::driver
