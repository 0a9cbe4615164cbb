// The protocol: how often the step runs, what is timed, what memory is seen.
#include "Workers.h"

#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"
#include "runtime/measure/Protocol.h"
#include "runtime/measure/Quantile.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

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

/// Says of each timed step what it was told to say.
class ToldMeter final : public DeviceMeter {
public:
  explicit ToldMeter(std::function<double(std::size_t)> of) : of(std::move(of)) {}
  void time(Timing steps) override { timing = steps; }
  tl::expected<double, std::string> seconds() override {
    EXPECT_NE(timing, Timing::Off);
    kept += timing == Timing::Kept ? 1 : 0;
    const double told = of(asked++);
    if (told < 0) return tl::unexpected(std::string("the clock is broken"));
    return told;
  }
  void keepIn(runtime::Measurement& result) const override { result.caches = "cold"; }

  std::size_t asked = 0, kept = 0;
  Timing timing = Timing::Off;

private:
  std::function<double(std::size_t)> of;
};

tl::expected<void, StepError> nothing() { return {}; }

TEST(Protocol, ADevicesClockIsWaitedForAndBelieved) {
  // Halved from window to window, so that the medians of the fifth and the sixth are the first that agree.
  ToldMeter card([](std::size_t step) { return std::max(8.0 / static_cast<double>(1U << step / 5), 0.5); });
  std::size_t calls = 0;
  const auto step = [&]() -> tl::expected<void, StepError> {
    ++calls;
    ::usleep(1000);
    return {};
  };
  const auto value = measure(step, quick(2, 7, 0.04, 7), noEnergy(), &card);  // a window is 4 ms, so five steps
  EXPECT_EQ(value.status, Status::Ok) << value.reason;
  EXPECT_EQ(value.warmupSteps, 2 + 6 * 5);
  EXPECT_EQ(value.warmupSpread, 0.0);
  EXPECT_EQ(value.samples, std::vector<double>(7, 0.5));
  EXPECT_EQ(value.latencyMedian, 0.5);
  EXPECT_EQ(card.asked, 6U * 5 + 7);
  EXPECT_EQ(calls, 2U + 6 * 5 + 7 + 7) << "as many again that the device does not time";
  EXPECT_GE(value.latencyHost.value(), 0.001);
  EXPECT_LT(value.latencyHost.value(), 0.1);
  EXPECT_EQ(card.kept, 7U);
  EXPECT_EQ(card.timing, DeviceMeter::Timing::Off);
  EXPECT_EQ(value.caches, "cold");
}

/// Quick steps, whose clock would not have risen yet behind five.
TEST(Protocol, AWindowTakesAsLongAsAClockToRise) {
  ToldMeter card([](std::size_t) { return 1.0; });
  const double begun = monotonicSeconds();
  const auto value = measure(nothing, quick(0, 2, 0.5, 2), noEnergy(), &card);
  EXPECT_EQ(value.status, Status::Ok);
  EXPECT_GE(monotonicSeconds() - begun, 2 * 0.05);
  EXPECT_GT(value.warmupSteps.value(), 10);
}

TEST(Protocol, ADeviceThatNeverComesToRestIsNotWaitedForForever) {
  double told = 1;  // each window's median is twice that of the one before
  ToldMeter card([&](std::size_t step) { return step % 5 == 0 ? told *= 2 : told; });
  const auto value = measure(
      []() -> tl::expected<void, StepError> {
        ::usleep(1000);
        return {};
      },
      quick(0, 2, 0.02, 2), noEnergy(), &card);
  EXPECT_EQ(value.status, Status::Ok);
  EXPECT_GE(value.warmupSpread.value(), 0.5);
  EXPECT_LT(value.finished - value.started, 5);
}

TEST(Protocol, ADeviceWithoutATimeFailsTheRow) {
  ToldMeter card([](std::size_t step) { return step == 12 ? -1.0 : 1.0; });
  const auto value = measure(nothing, quick(0, 20, 0, 20), noEnergy(), &card);
  EXPECT_EQ(value.status, Status::Failed);
  EXPECT_EQ(value.reason, "the clock is broken");
  EXPECT_EQ(value.samples.size(), 2U);
  EXPECT_EQ(card.timing, DeviceMeter::Timing::Off);
}

/// A hundred joules a step, ten watts of them at rest.
class StepCounter final : public EnergySource {
public:
  const std::string& reason() const override { return none; }
  void start() override { first = steps, begin = end = monotonicSeconds(); }
  void look() override { last = steps, end = monotonicSeconds(); }
  std::optional<double> joules() const override { return 100.0 * static_cast<double>(last - first); }
  double window() const override { return 0.05; }
  std::optional<double> restingPower() const override { return 10; }

  std::size_t steps = 0, first = 0, last = 0;
  double begin = 0, end = 0;

private:
  std::string none;
};

TEST(Protocol, EnergyOnADeviceIsOfStepsThatNobodyTimes) {
  StepCounter counter;
  ToldMeter card([&](std::size_t) { return 1.0; });
  const auto value = measure(
      [&]() -> tl::expected<void, StepError> {
        ++counter.steps;
        ::usleep(2000);
        return {};
      },
      quick(0, 3, 0, 3), counter, &card);
  EXPECT_EQ(value.status, Status::Ok) << value.reason;
  EXPECT_DOUBLE_EQ(value.energy.value(), 100);
  EXPECT_GE(counter.end - counter.begin, counter.window());
  EXPECT_EQ(counter.first, card.asked) << "all timed steps come before";
  EXPECT_EQ(value.idlePower, 10.0);
  const double each = (counter.end - counter.begin) / static_cast<double>(counter.last - counter.first);
  EXPECT_NEAR(value.energyDynamic.value(), 100 - 10 * each, 10 * each);
  EXPECT_LT(value.energyDynamic.value(), 100);
}

TEST(Protocol, SettingsAreSaidInWords) { EXPECT_EQ(describe(Settings{}), "warm-up 3, steps >= 20, >= 0.5 s, <= 10000 steps"); }

}  // namespace
}  // namespace tbem::measure
