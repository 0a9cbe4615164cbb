// The protocol of one measurement: warm up, time steps, read the meters. Runs in the process that is measured, after set-up.
#pragma once

#include "runtime/core/Measurement.h"
#include "runtime/core/ProtocolSettings.h"
#include "runtime/measure/DeviceMeter.h"
#include "runtime/measure/Meters.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace tbem::measure {

using Settings = runtime::ProtocolSettings;

/// Why a step did not come to its end.
struct StepError {
  bool outOfMemory = false;
  std::string message;
};
using Step = std::function<tl::expected<void, StepError>()>;

/// Runs the protocol; set-up is done when it is called: inputs, weights and arena are there, and nothing is compiled any more.
///
/// baseline = VmRSS now; the peak is reset; `warmup` steps; timed steps; memoryPeak = VmHWM. `energy` is read around the timed
/// steps and divided by their number; where they take less than its window, there is none.
///
/// With a `device`, latency and samples are what it says of the timed steps. The warm-up goes on until the medians of two windows
/// are within 1 %, or one ends behind four times minSeconds; a window is five steps and a tenth of minSeconds, or more. Behind
/// the timed steps come as many that it does not time, of which the host's seconds are kept, and so many that energy can be read
/// around them. For all but energy minSeconds counts as half a second at most.
///
/// Fills status, reason, memory, latency, samples, energy, load (from the baseline to the peak), started and finished; the caller
/// adds arena, machine, versions. A step that fails gives status Failed or OutOfMemory with its message, and the memory seen so
/// far. Threads: the calling one; `step` may use others. Its own buffers, of the times of 10 000 steps, are there before the
/// baseline is read.
runtime::Measurement measure(const Step& step, const Settings& settings, EnergySource& energy, DeviceMeter* device = nullptr);

/// "warm-up 3, steps >= 20, >= 0.5 s, <= 10000 steps": for the row's identity and for reports.
std::string describe(const Settings& settings);

}  // namespace tbem::measure
