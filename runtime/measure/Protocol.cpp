#include "runtime/measure/Protocol.h"

#include "runtime/measure/LoadMeter.h"
#include "runtime/measure/Meters.h"
#include "runtime/measure/Quantile.h"

#include <fmt/format.h>

#include <algorithm>

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
  std::uint64_t timedSteps = 0;

  bool once() {
    auto done = step();
    if (done) return true;
    result.status = done.error().outOfMemory ? runtime::Status::OutOfMemory : runtime::Status::Failed;
    result.reason = done.error().message;
    return false;
  }

  bool warmUp() {
    for (std::uint32_t i = 0; i < settings.warmup; ++i)
      if (!once()) return false;
    return true;
  }

  /// Times the steps one by one; the clock is read between them, so the samples add up to the window.
  bool timed(EnergySource& energy) {
    energy.start();
    const double begin = monotonicSeconds();
    const std::uint32_t most = std::max(settings.maxSteps, settings.steps);
    double before = begin, looked = begin;
    while (timedSteps < most && (timedSteps < settings.steps || before - begin < settings.minSeconds)) {
      if (!once()) return false;
      ++timedSteps;
      const double now = monotonicSeconds();
      if (result.samples.size() < keptOf(settings)) result.samples.push_back(now - before);
      before = now;
      if (now - looked > kEnergyLook) {
        energy.look();
        looked = before = monotonicSeconds();
      }
    }
    energy.look();
    keepEnergy(energy, before - begin);
    return true;
  }

  void keepEnergy(const EnergySource& energy, double window) {
    const auto joules = energy.joules();
    if (!joules)
      result.energyReason = energy.reason();
    else if (window < energy.window() || timedSteps == 0)
      result.energyReason =
          fmt::format("the timed steps took {:.3g} s, under the {} s that the energy counters need", window, energy.window());
    else
      result.energy = *joules / static_cast<double>(timedSteps);
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

runtime::Measurement measure(const Step& step, const Settings& settings, EnergySource& energy) {
  runtime::Measurement result;
  result.started = unixSeconds();
  result.samples.resize(keptOf(settings));  // so that its pages are there before the baseline
  result.samples.clear();
  LoadMeter load;
  load.start();
  readBaseline(result);
  Run run{step, settings, result};
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
