// The protocol: how often the step runs, what is timed, what memory is seen.
#include "Workers.h"

#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"
#include "runtime/measure/Protocol.h"
#include "runtime/measure/Quantile.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <numeric>

namespace tbem::measure {
namespace {

using runtime::Status;

Settings quick(std::uint32_t warmup, std::uint32_t steps, double minSeconds, std::uint32_t most) {
  Settings settings;
  settings.warmup = warmup, settings.steps = steps, settings.minSeconds = minSeconds, settings.maxSteps = most;
  return settings;
}

EnergySource& noEnergy() {
  static EnergyMeter nothing("/none");
  return nothing;
}

TEST(Protocol, RunsWarmUpAndStepsAndTimesOnlyTheSteps) {
  std::size_t calls = 0;
  const auto value = measure(
      [&]() -> tl::expected<void, StepError> {
        if (++calls <= 2) ::usleep(100000);
        return {};
      },
      quick(2, 7, 0, 7), noEnergy());
  EXPECT_EQ(calls, 9u);
  ASSERT_EQ(value.samples.size(), 7u);
  EXPECT_LT(*value.latencyP95, 0.1);  // the slow ones were the warm-up
  EXPECT_EQ(value.status, Status::Ok);
  EXPECT_EQ(*value.latencyMedian, quantile(value.samples, 0.5));
  EXPECT_EQ(*value.latencyP05, quantile(value.samples, 0.05));
  EXPECT_EQ(*value.latencyP95, quantile(value.samples, 0.95));
  EXPECT_GE(value.finished - value.started, 0.2);
}

TEST(Protocol, SamplesAreTheTimesOfTheSteps) {
  std::size_t calls = 0;
  const auto value = measure(
      [&]() -> tl::expected<void, StepError> {
        ::usleep(++calls % 2 == 0 ? 30000 : 10000);
        return {};
      },
      quick(0, 4, 0, 4), noEnergy());
  ASSERT_EQ(value.samples.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GE(value.samples[i], i % 2 == 1 ? 0.030 : 0.010);
    EXPECT_LT(value.samples[i], i % 2 == 1 ? 2.0 : 1.0);
  }
}

TEST(Protocol, GoesOnForTheLeastTimeButNotBeyondTheMostSteps) {
  const auto timed = measure(
      []() -> tl::expected<void, StepError> {
        ::usleep(5000);
        return {};
      },
      quick(0, 2, 0.1, 1000), noEnergy());
  EXPECT_GE(std::accumulate(timed.samples.begin(), timed.samples.end(), 0.0), 0.1);
  EXPECT_LE(timed.samples.size(), 20u);
  const auto cut = measure([]() -> tl::expected<void, StepError> { return {}; }, quick(0, 2, 100, 50), noEnergy());
  EXPECT_EQ(cut.samples.size(), 50u);
}

TEST(Protocol, AFailingStepSaysWhyAndKeepsWhatWasSeen) {
  std::size_t calls = 0;
  const auto step = [&]() -> tl::expected<void, StepError> {
    if (++calls == 6) return tl::unexpected(StepError{true, "workspace of 3 GiB"});
    return {};
  };
  const auto value = measure(step, quick(2, 20, 0, 20), noEnergy());
  EXPECT_EQ(value.status, Status::OutOfMemory);
  EXPECT_EQ(value.reason, "workspace of 3 GiB");
  EXPECT_EQ(value.samples.size(), 3u);
  EXPECT_TRUE(value.memoryPeak.has_value());
  const auto failed = measure(
      []() -> tl::expected<void, StepError> {
        return tl::unexpected(StepError{false, "NaN"});
      },
      quick(1, 2, 0, 2), noEnergy());
  EXPECT_EQ(failed.status, Status::Failed);
  EXPECT_EQ(failed.latencyMedian, std::nullopt);
}

TEST(Protocol, EnergyIsMissingWithAReason) {
  const auto value = measure([]() -> tl::expected<void, StepError> { return {}; }, quick(0, 2, 0, 2), noEnergy());
  EXPECT_EQ(value.energy, std::nullopt);
  EXPECT_NE(value.energyReason.find("no RAPL"), std::string::npos);
}

/// In a fresh process: set-up took 96 MiB and gave them back, kept 24 MiB; each step takes 48 MiB for a while.
TEST(Protocol, PeakIsThatOfTheStepsOverTheBaseline) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's own memory counts as well";
#endif
  Command command;
  command.argv = as("memory");
  command.timeLimit = 60;
  const auto outcome = spawn(command);
  ASSERT_TRUE(outcome.has_value()) << outcome.error();
  const auto value = classify(*outcome, 60);
  ASSERT_EQ(value.status, Status::Ok) << value.reason;
  if (!value.memoryReason.empty()) GTEST_SKIP() << value.memoryReason;
  constexpr double kMiB = 1 << 20;
  const double baseline = static_cast<double>(value.memoryBaseline.value()), peak = static_cast<double>(value.memoryPeak.value());
  EXPECT_GT(baseline, 24 * kMiB);
  EXPECT_LT(baseline, 24 * kMiB + 40 * kMiB);  // the process itself, without what was given back
  EXPECT_NEAR(peak - baseline, 48 * kMiB, 1 * kMiB);
}

TEST(Protocol, SettingsAreSaidInWords) { EXPECT_EQ(describe(Settings{}), "warm-up 3, steps >= 20, >= 0.5 s, <= 10000 steps"); }

}  // namespace
}  // namespace tbem::measure
