// Least times of gated networks against all ways that samples can go, one by one.
#include "compiler/estimate/GateSeconds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace tbem::estimate {
namespace {

constexpr std::int64_t kSamples = 3;

/// Branches of `gates` gates, each in one that is there before it, with steps of random times.
Roofline randomRoofline(std::mt19937& random, std::uint32_t gates) {
  const auto time = [&] { return std::uniform_real_distribution<double>(0, 4)(random); };
  Roofline roofline;
  roofline.branches.resize(1);
  roofline.branches[0].samples = kSamples;
  for (std::uint32_t gate = 0; gate < gates; ++gate) {
    const auto parent = std::uniform_int_distribution<std::uint32_t>(0, 2 * gate)(random);
    for (const bool condition : {false, true}) {
      Branch branch;
      branch.parent = parent;
      branch.gate = static_cast<graph::OpId>(gate);
      branch.path = "g" + std::to_string(gate);
      branch.condition = condition;
      branch.samples = kSamples;
      roofline.branches.push_back(branch);
    }
  }
  for (std::uint32_t b = 0; b < roofline.branches.size(); ++b) {
    for (int i = std::uniform_int_distribution<int>(0, 2)(random); i > 0; --i) {
      StepCost step;
      step.branch = b;
      step.perSample = std::uniform_int_distribution<int>(0, 3)(random) != 0;
      step.arithmetic = time();
      step.moving = time();
      step.movingWhole = step.perSample ? step.moving * std::uniform_real_distribution<double>(0, 1)(random) : step.moving;
      step.seconds = std::max(step.arithmetic, step.moving);
      roofline.steps.push_back(step);
    }
  }
  return roofline;
}

struct Enumerated {
  double least = std::numeric_limits<double>::infinity(), most = 0, expected = 0;
};

/// Bit gate * kSamples + sample of `way`: the gate's condition for the sample.
Enumerated enumerate(const Roofline& roofline, std::uint32_t gates, double chance) {
  Enumerated all;
  for (std::uint32_t way = 0; way < 1U << (gates * kSamples); ++way) {
    std::vector<std::vector<bool>> in(roofline.branches.size(), std::vector<bool>(kSamples, true));
    double probability = 1, seconds = 0;
    for (std::uint32_t b = 1; b < roofline.branches.size(); ++b) {
      const Branch& branch = roofline.branches[b];
      for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
        const bool holds = (way >> (static_cast<std::uint32_t>(branch.gate) * kSamples + sample) & 1U) != 0;
        in[b][sample] = in[branch.parent][sample] && holds == branch.condition;
        if (branch.condition) probability *= holds ? chance : 1 - chance;
      }
    }
    for (const StepCost& step : roofline.steps) {
      const auto count = std::count(in[step.branch].begin(), in[step.branch].end(), true);
      seconds += step.secondsOf(static_cast<double>(count) / kSamples);
    }
    all.least = std::min(all.least, seconds);
    all.most = std::max(all.most, seconds);
    all.expected += probability * seconds;
  }
  return all;
}

TEST(GateSeconds, AreThoseOfAllWays) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::uint32_t gates = 1 + static_cast<std::uint32_t>(repeat) % 4;
    const Roofline roofline = randomRoofline(random, gates);
    const double chance = std::uniform_real_distribution<double>(0, 1)(random);
    const Enumerated all = enumerate(roofline, gates, chance);
    const GateSeconds seconds = secondsOfPaths(roofline);
    EXPECT_NEAR(seconds.least, all.least, 1e-9) << repeat;
    EXPECT_NEAR(seconds.most, all.most, 1e-9) << repeat;
    EXPECT_NEAR(expectedSeconds(roofline, {{}, chance}).value(), all.expected, 1e-9) << repeat;
  }
}

/// A gate that decides about many places: bounds above 256 of them are bounds, and near.
TEST(GateSeconds, OfManyPlacesAreBounds) {
  std::mt19937 random(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Roofline roofline = randomRoofline(random, 1);
    for (std::size_t b = 1; b < 3; ++b) roofline.branches[b].samples = 1000;
    const auto secondsOf = [&](std::int64_t taken) {
      double sum = 0;
      for (const StepCost& step : roofline.steps)
        sum += step.secondsOf(step.branch == 0 ? 1 : static_cast<double>(step.branch == 2 ? taken : 1000 - taken) / 1000);
      return sum;
    };
    double least = secondsOf(0), most = 0, expected = 0, chance = 0.3;
    for (std::int64_t taken = 0; taken <= 1000; ++taken) {
      least = std::min(least, secondsOf(taken));
      most = std::max(most, secondsOf(taken));
      const double choices =
          std::lgamma(1001.0) - std::lgamma(static_cast<double>(taken) + 1) - std::lgamma(1001.0 - static_cast<double>(taken));
      expected += secondsOf(taken) * std::exp(choices + static_cast<double>(taken) * std::log(chance) +
                                              (1000.0 - static_cast<double>(taken)) * std::log(1 - chance));
    }
    const GateSeconds seconds = secondsOfPaths(roofline);
    EXPECT_NEAR(seconds.least, least, 1e-9);
    EXPECT_GE(seconds.most, most - 1e-9);
    EXPECT_LE(seconds.most, most * (1 + 2.0 / 256) + 1e-9);
    EXPECT_NEAR(expectedSeconds(roofline, {{}, chance}).value(), expected, 1e-6);
  }
}

TEST(GateSeconds, NameTheGateWithoutAProbability) {
  std::mt19937 random(5);
  const auto expected = expectedSeconds(randomRoofline(random, 2), {{{"g0", 0.5}}, std::nullopt});
  ASSERT_FALSE(expected);
  EXPECT_EQ(expected.error(), "no probability for the gate `g1`");
}

}  // namespace
}  // namespace tbem::estimate
