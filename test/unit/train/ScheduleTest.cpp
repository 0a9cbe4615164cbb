#include "runtime/train/Schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbem::train {
namespace {

Schedule make(Schedule::Kind kind) {
  Schedule schedule;
  schedule.kind = kind;
  schedule.total = 100;
  return schedule;
}

TEST(Schedule, ConstantIsOne) {
  for (const int step : {0, 50, 99, 1000}) EXPECT_EQ(make(Schedule::Kind::Constant).at(step), 1);
}

TEST(Schedule, WarmUpRisesLinearly) {
  Schedule schedule = make(Schedule::Kind::Constant);
  schedule.warmup = 10;
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(4), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(9), 1);
  EXPECT_DOUBLE_EQ(schedule.at(10), 1);
}

/// The values of PyTorch 1.13's CosineAnnealingLR(T_max=100, eta_min=0.1 of the rate) at these steps.
TEST(Schedule, CosineIsThatOfPyTorch) {
  Schedule schedule = make(Schedule::Kind::Cosine);
  schedule.floor = 0.1;
  EXPECT_DOUBLE_EQ(schedule.at(0), 1);
  EXPECT_NEAR(schedule.at(25), 0.8681980515339464, 1e-14);
  EXPECT_NEAR(schedule.at(50), 0.55, 1e-14);
  EXPECT_NEAR(schedule.at(75), 0.2318019484660537, 1e-14);
  EXPECT_NEAR(schedule.at(100), 0.1, 1e-14);
}

TEST(Schedule, CosineBeginsBehindTheWarmUp) {
  Schedule schedule = make(Schedule::Kind::Cosine);
  schedule.warmup = 20;
  EXPECT_DOUBLE_EQ(schedule.at(19), 1);
  EXPECT_DOUBLE_EQ(schedule.at(20), 1);
  EXPECT_NEAR(schedule.at(60), 0.5, 1e-14);
}

TEST(Schedule, LinearEndsAtTheFloor) {
  Schedule schedule = make(Schedule::Kind::Linear);
  schedule.floor = 0.2;
  EXPECT_DOUBLE_EQ(schedule.at(0), 1);
  EXPECT_DOUBLE_EQ(schedule.at(50), 0.6);
  EXPECT_DOUBLE_EQ(schedule.at(100), 0.2);
  EXPECT_DOUBLE_EQ(schedule.at(500), 0.2);
}

TEST(Schedule, StepFallsAfterEachStretch) {
  Schedule schedule = make(Schedule::Kind::Step);
  schedule.every = 30;
  schedule.factor = 0.1;
  EXPECT_DOUBLE_EQ(schedule.at(29), 1);
  EXPECT_DOUBLE_EQ(schedule.at(30), 0.1);
  EXPECT_NEAR(schedule.at(60), 0.01, 1e-15);
}

}  // namespace
}  // namespace tbem::train
