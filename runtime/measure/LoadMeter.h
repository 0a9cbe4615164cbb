// What else a machine does while a process runs: without it a slow measurement beside a busy neighbour looks like a slow step.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::measure {

/// The line `cpu` of /proc/stat (man 5 proc): clock ticks since the machine started, summed over the processors.
struct ProcessorTicks {
  std::uint64_t busy = 0;    ///< user, nice, system, irq, softirq; what guests took is in user and nice
  std::uint64_t idle = 0;    ///< idle, iowait
  std::uint64_t stolen = 0;  ///< steal: a hypervisor ran something else
};
/// Errors: it is no such line.
tl::expected<ProcessorTicks, std::string> parseProcessorTicks(const std::string& line);

/// Looks at the machine at the beginning and at the end of a while. Where processes of several users or containers share a
/// machine, it is the whole machine that is seen.
class LoadMeter {
public:
  explicit LoadMeter(std::string root = "/proc") : root(std::move(root)) {}
  void start();
  /// Since `start`. What the system does not say is left empty; so is what a while without a tick leaves open.
  runtime::MachineLoad read() const;
  /// The same with the processor seconds that this process used meanwhile.
  runtime::MachineLoad read(double ownSeconds, double seconds) const;

private:
  std::optional<ProcessorTicks> ticks() const;
  std::optional<double> waitedSeconds() const;

  std::string root;
  std::optional<ProcessorTicks> before;
  std::optional<double> waitedBefore;
  double ownBefore = 0, startedAt = 0;
};

}  // namespace tbem::measure
