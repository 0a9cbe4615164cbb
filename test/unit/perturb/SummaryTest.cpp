// Columns of the table, of series that are computed by hand.
#include "runtime/perturb/Summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tbem::perturb {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Victim victim() {
  Victim victim;
  victim.classAxis = 1;
  victim.least = 100;
  victim.most = 500;
  return victim;
}

/// Three points: one rises by 300 % and loses its label, one falls by half, one did not move and has no room.
Series three() {
  Series series;
  series.gates = {"a", "b"};
  Point up;
  up.label = 1;
  up.before = 1;
  up.after = 0;
  up.flopsBefore = 100;
  up.flops = 400;
  up.linf = 0.03;
  up.l2 = 0.5;
  up.decisionsBefore = {1, -1};
  up.decisions = {0, 0};
  up.latencyBefore = 1;
  up.latency = 3;
  up.psnr = 30;
  up.ssim = 0.9;
  Point down = up;
  down.label = -1;
  down.before = down.after = 1;
  down.flopsBefore = 200;
  down.flops = 100;
  down.linf = 0.01;
  down.l2 = 0.25;
  down.decisions = {1, -1};
  down.latencyBefore = 2;
  down.latency = 1;
  down.psnr = 40;
  down.ssim = 0.8;
  Point same = up;
  same.label = 0;
  same.before = same.after = 0;
  same.flopsBefore = same.flops = 500;
  same.linf = same.l2 = 0;
  same.decisions = {0, 0};
  same.latencyBefore = 4;
  same.latency = 5;
  same.psnr = kInfinite;
  same.ssim = 1;
  series.points = {up, down, same};
  return series;
}

TEST(Summary, OfThreePoints) {
  Series series = three();
  series.stored = 1;
  series.moving = 3;
  const Summary s = summarise(series, victim());
  EXPECT_EQ(s.examples, 3);
  EXPECT_NEAR(s.meanIncrease, (3 - 0.5 + 0) / 3, 1e-15);
  EXPECT_EQ(s.mostIncrease, 3);
  EXPECT_EQ(s.raised, 1);
  EXPECT_NEAR(s.headroom.value(), (300.0 / 400 - 100.0 / 300) / 2, 1e-15);
  EXPECT_NEAR(s.flopsBefore, 800.0 / 3, 1e-12);
  EXPECT_NEAR(s.flops, 1000.0 / 3, 1e-12);
  EXPECT_EQ(s.accuracyBefore, 1);  // of the two with a label
  EXPECT_EQ(s.accuracy, 0.5);
  EXPECT_NEAR(s.kept.value(), 2.0 / 3, 1e-15);
  EXPECT_NEAR(s.linf, 0.04 / 3, 1e-15);
  EXPECT_NEAR(s.l2, 0.25, 1e-15);
  EXPECT_NEAR(s.psnr.value(), 35, 1e-12);
  EXPECT_NEAR(s.ssim.value(), 0.85, 1e-15);
  EXPECT_NEAR(s.latency.mean.value(), (2 - 0.5 + 0.25) / 3, 1e-15);
  EXPECT_EQ(s.latency.most, 2);
  // numpy.corrcoef([100, 400, 200, 100, 500, 500], [1, 3, 2, 1, 4, 5])[0, 1]
  EXPECT_NEAR(s.latency.correlation.value(), 0.9682458365518543, 1e-15);
  EXPECT_EQ(s.coverage, 0.75);  // a both ways, b not taken
  EXPECT_EQ(s.secondsOfExample, 1.5);
}

TEST(Summary, TheMostIsNegativeWhereEveryPointFell) {
  Series series = three();
  series.points = {series.points[1]};
  const Summary s = summarise(series, victim());
  EXPECT_EQ(s.mostIncrease, -0.5);
  EXPECT_EQ(s.latency.most, -0.5);
  EXPECT_EQ(s.raised, 0);
}

TEST(Summary, EnergyIsOfThePointsThatHaveIt) {
  Series series = three();
  series.points[0].energyBefore = 2;
  series.points[0].energy = 5;
  series.points[1].energyBefore = 4;
  series.points[1].energy = 3;
  const Growth energy = summarise(series, victim()).energy;
  EXPECT_EQ(energy.before, 3);
  EXPECT_EQ(energy.after, 4);
  EXPECT_EQ(energy.mean, (1.5 - 0.25) / 2);
  EXPECT_EQ(energy.most, 1.5);
  // numpy.corrcoef([100, 400, 200, 100], [2, 5, 4, 3])[0, 1]
  EXPECT_NEAR(energy.correlation.value(), 0.9128709291752769, 1e-15);
}

TEST(Summary, WhatNobodyHasIsNothing) {
  Series series = three();
  series.points = {series.points[2], series.points[2]};  // neither moved, nor had room
  series.stored = 2;
  for (Point& point : series.points) {
    point.label = -1;
    point.ssim.reset();
    point.latencyBefore = point.latency = 0;
  }
  const Summary s = summarise(series, victim());
  EXPECT_EQ(s.meanIncrease, 0);
  EXPECT_EQ(s.mostIncrease, 0);
  EXPECT_FALSE(s.headroom);
  EXPECT_FALSE(s.accuracyBefore);
  EXPECT_FALSE(s.accuracy);
  EXPECT_EQ(s.kept, 1);
  EXPECT_FALSE(s.psnr);
  EXPECT_FALSE(s.ssim);
  EXPECT_FALSE(s.latency.mean);
  EXPECT_FALSE(s.latency.most);
  EXPECT_FALSE(s.latency.before);
  EXPECT_FALSE(s.energy.mean);
  EXPECT_FALSE(s.energy.correlation);
  EXPECT_FALSE(s.latency.correlation);
  EXPECT_FALSE(s.secondsOfExample);
}

TEST(Summary, OfANetworkWithoutClasses) {
  Victim silent = victim();
  silent.classAxis.reset();
  const Summary s = summarise(three(), silent);
  EXPECT_FALSE(s.kept);
  EXPECT_FALSE(s.accuracy);
  EXPECT_FALSE(s.accuracyBefore);
}

TEST(Summary, LatencyOfOneCostHasNoCorrelation) {
  Series series = three();
  for (Point& point : series.points) point.flopsBefore = point.flops = 0.1 + 0.2;  // sums of these round
  EXPECT_FALSE(summarise(series, victim()).latency.correlation);
}

TEST(Summary, OfNothing) {
  const Summary s = summarise(Series{}, victim());
  EXPECT_EQ(s.examples, 0);
  EXPECT_EQ(s.coverage, 0);
  EXPECT_FALSE(s.headroom);
  EXPECT_FALSE(s.kept);
}

}  // namespace
}  // namespace tbem::perturb
