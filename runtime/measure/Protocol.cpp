#include "runtime/measure/Protocol.h"

#include "runtime/measure/LoadMeter.h"
#include "runtime/measure/Meters.h"
#include "runtime/measure/Quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace tbem::measure {
namespace {

constexpr double kEnergyLook = 30;  ///< seconds between looks, far below a wrap

/// Of how many steps the times are kept: the first.
std::size_t keptOf(const Settings& settings) {
  constexpr std::uint32_t kMost = 10'000;
  return std::max(std::min(settings.maxSteps, kMost), settings.steps);
}

struct Run {
  const Step& step;
  const Settings& settings;
  runtime::Measurement& result;
  DeviceMeter* const device;
  std::vector<double> hostSeconds = {};  ///< of steps that a device does not time

  bool once() {
    auto done = step();
    return done ? true : failed(done.error());
  }
  bool failed(const StepError& error) {
    result.status = error.outOfMemory ? runtime::Status::OutOfMemory : runtime::Status::Failed;
    result.reason = error.message;
    return false;
  }

  bool warmUp() {
    for (std::uint32_t i = 0; i < settings.warmup; ++i)
      if (!once()) return false;
    return true;
  }

  bool timed(EnergySource& energy) {
    if (device == nullptr) return timedByHost(energy);
    const bool fine = settled() && timedByDevice();
    device->time(DeviceMeter::Timing::Off);
    return fine && untimed(energy);
  }

  bool timedByHost(EnergySource& energy) {
    const std::uint32_t most = std::max(settings.maxSteps, settings.steps);
    return chained(energy, result.samples, [&](std::uint64_t steps, double seconds) {
      return steps < most && (steps < settings.steps || seconds < settings.minSeconds);
    });
  }

  /// Steps one behind the other as long as `more` says of how many there were, in how many seconds: their energy, and into
  /// `times` the host's seconds of each. The clock is read between them, so these add up to the window.
  bool chained(EnergySource& energy, std::vector<double>& times, const std::function<bool(std::uint64_t, double)>& more) {
    energy.start();
    const double begin = monotonicSeconds();
    double before = begin, looked = begin;
    std::uint64_t steps = 0;
    for (; more(steps, before - begin); ++steps) {
      if (!once()) return false;
      const double now = monotonicSeconds();
      if (times.size() < keptOf(settings)) times.push_back(now - before);
      before = now;
      if (now - looked > kEnergyLook) {
        energy.look();
        looked = before = monotonicSeconds();
      }
    }
    energy.look();
    keepEnergy(energy, before - begin, steps);
    return true;
  }

  /// Seconds for which the device was at work on a step; empty: it failed.
  std::optional<double> onceOnDevice() {
    if (!once()) return std::nullopt;
    const auto seconds = device->seconds();
    if (seconds) return *seconds;
    (void)failed({false, seconds.error()});
    return std::nullopt;
  }

  /// Goes on with the warm-up until the medians of two windows agree, as they do when clocks and caches have come to rest, or
  /// for long enough. A clock takes some hundredths of a second to rise, so a window takes as long.
  bool settled() {
    constexpr std::size_t kWindow = 5;
    constexpr double kAgree = 0.01, kEach = 0.1, kLongest = 4;  // the latter two of the least seconds
    device->time(DeviceMeter::Timing::WarmUp);
    const double begin = monotonicSeconds();
    double steps = settings.warmup, before = 0;
    for (bool isFirst = true;; isFirst = false) {
      std::vector<double> window;
      const double begun = monotonicSeconds();
      while (window.size() < kWindow || monotonicSeconds() - begun < kEach * leastSeconds()) {
        const auto seconds = onceOnDevice();
        if (!seconds) return false;
        window.push_back(*seconds);
      }
      steps += static_cast<double>(window.size());
      const double now = median(window);
      result.warmupSteps = steps;
      if (!isFirst) result.warmupSpread = before > 0 ? std::abs(now - before) / before : 0;
      before = now;
      if (!isFirst && (*result.warmupSpread <= kAgree || monotonicSeconds() - begin > kLongest * leastSeconds())) break;
    }
    return true;
  }

  /// Where energy is wanted, settings.minSeconds are those that its counter needs.
  double leastSeconds() const { return std::min(settings.minSeconds, Settings{}.minSeconds); }

  /// Times the steps one by one.
  bool timedByDevice() {
    device->time(DeviceMeter::Timing::Kept);
    const double begin = monotonicSeconds();
    const auto enough = [&] { return result.samples.size() >= settings.steps && monotonicSeconds() - begin >= leastSeconds(); };
    while (result.samples.size() < keptOf(settings) && !enough()) {
      const auto seconds = onceOnDevice();
      if (!seconds) return false;
      result.samples.push_back(*seconds);
    }
    device->keepIn(result);
    return true;
  }

  /// Steps as a training asks for them, which the device does not time, as long as the counter of energy needs.
  bool untimed(EnergySource& energy) {
    constexpr double kMore = 1.05;  // than the counter needs, for it is read between steps
    const double window = energy.reason().empty() ? kMore * energy.window() : 0;
    const bool fine = chained(energy, hostSeconds,
                              [&](std::uint64_t steps, double seconds) { return steps < settings.steps || seconds < window; });
    if (fine && !hostSeconds.empty()) result.latencyHost = median(hostSeconds);
    return fine;
  }

  /// Of so many steps, which took so many seconds.
  void keepEnergy(const EnergySource& energy, double window, std::uint64_t steps) {
    const auto joules = energy.joules();
    result.idlePower = energy.restingPower();
    if (!joules) {
      result.energyReason = energy.reason();
    } else if (window < energy.window() || steps == 0) {
      result.energyReason =
          fmt::format("the timed steps took {:.3g} s, under the {} s that the energy counters need", window, energy.window());
    } else {
      result.energy = *joules / static_cast<double>(steps);
      if (result.idlePower) result.energyDynamic = (*joules - *result.idlePower * window) / static_cast<double>(steps);
    }
  }

  void keepLatency() {
    if (result.samples.empty()) return;
    std::vector<double> sorted = result.samples;
    std::sort(sorted.begin(), sorted.end());
    result.latencyMedian = quantileOfSorted(sorted, 0.5);
    result.latencyP05 = quantileOfSorted(sorted, 0.05);
    result.latencyP95 = quantileOfSorted(sorted, 0.95);
  }
};

void readBaseline(runtime::Measurement& result) {
  auto before = readMemory();
  if (!before) {
    result.memoryReason = before.error();
    return;
  }
  result.memoryBaseline = before->resident;
  if (auto reset = resetPeak(); !reset)
    result.memoryReason =
        fmt::format("the peak could not be reset ({}): it counts set-up as well and is an upper bound", reset.error());
}

void readPeak(runtime::Measurement& result) {
  auto after = readMemory();
  if (after)
    result.memoryPeak = after->peak;
  else
    result.memoryReason = after.error();
}

}  // namespace

runtime::Measurement measure(const Step& step, const Settings& settings, EnergySource& energy, DeviceMeter* device) {
  runtime::Measurement result;
  result.started = unixSeconds();
  Run run{step, settings, result, device};
  const auto touch = [&](std::vector<double>& times) {  // so that its pages are there before the baseline
    times.resize(keptOf(settings));
    times.clear();
  };
  touch(result.samples);
  if (device != nullptr) touch(run.hostSeconds);
  LoadMeter load;
  load.start();
  readBaseline(result);
  const bool fine = run.warmUp() && run.timed(energy);
  readPeak(result);
  result.load = load.read();
  if (fine) result.status = runtime::Status::Ok;
  run.keepLatency();
  result.finished = unixSeconds();
  return result;
}

std::string describe(const Settings& settings) {
  return fmt::format("warm-up {}, steps >= {}, >= {} s, <= {} steps", settings.warmup, settings.steps, settings.minSeconds,
                     std::max(settings.maxSteps, settings.steps));
}

}  // namespace tbem::measure
