// A case of a campaign and what was measured of it: the values that measuring, the store and reports hand to one another.
// Plain data; sizes in bytes, times in seconds, energy in joules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::runtime {

/// One row of a design on one backend, once.
struct Case {
  std::string identity;  ///< hash of all that can change the result (cli.md); the same identity is the same experiment
  std::string design;
  std::uint32_t row = 0;      ///< number of the row in its design, from 0
  std::string levels = "{}";  ///< a JSON object, factors in order of declaration
  std::string backend;
  std::uint32_t repeat = 0;  ///< from 0
  double cost = 1;           ///< how long it takes relative to other cases (say, FLOPs); only for the time left
};

enum class Status : std::uint8_t { Ok, OutOfMemory, Failed, Timeout, Skipped };
/// "ok", "oom", "failed", "timeout", "skipped".
std::string_view name(Status status);
std::optional<Status> statusOf(std::string_view name);

/// What else the machine did while the steps ran (measure/LoadMeter.h). Empty: the system does not say.
struct MachineLoad {
  std::optional<double> others;   ///< share of the time of all processors that other processes used
  std::optional<double> stolen;   ///< share of it that a hypervisor gave to something else
  std::optional<double> waited;   ///< share of the time in which some process that could run waited for a processor
  std::optional<double> average;  ///< processes that run or could, over the last minute, at the end
};

/// What was seen. A field that no meter could fill is empty, and the reason stands beside it.
struct Measurement {
  Status status = Status::Failed;
  std::string reason;                           ///< why not ok; empty where ok
  std::optional<std::uint64_t> memoryPeak;      ///< VmHWM at the end (see measure/Meters.h)
  std::optional<std::uint64_t> memoryBaseline;  ///< resident size when set-up was done
  std::string memoryReason;                     ///< why a memory is missing, or in what way the peak is only a bound
  std::optional<std::uint64_t> arenaPeak;       ///< highest byte of the arena that was touched
  std::optional<std::uint64_t> arenaPlanned;    ///< bytes of the arena in the process that ran
  std::optional<double> latencyMedian, latencyP05, latencyP95;  ///< of a step; quantiles as in measure/Quantile.h
  std::vector<double> samples;                                  ///< seconds of each timed step, in order
  std::optional<double> energy;                                 ///< joules a step
  std::string energyReason;                                     ///< why there is none
  MachineLoad load;
  std::string lossNotFinite;  ///< "inf", "-inf" or "nan", of the loss after the last step; "": finite, or not known
  std::optional<std::uint64_t> staticMemory, live, arena;  ///< what the estimator said of this row
  std::string machine;                                     ///< processor or GPU, threads
  std::string versions;                                    ///< of libraries and of the lowering
  double started = 0, finished = 0;                        ///< seconds since 1970-01-01 UTC
  double timeLimit = 0;                                    ///< that it ran under; 0: none
};

/// True where running the case again would tell nothing new: ok and oom are; a timeout is unless more time is allowed now;
/// failed and skipped rows are tried again by the next campaign. `timeLimit` of 0 is no limit.
bool settled(Status status, double limitThen, double limitNow);

}  // namespace tbem::runtime
