// Meters of this process and machine: memory, time, energy. Each says plainly where it cannot see.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::measure {

/// Resident memory of this process, from /proc/self/status. Bytes. The kernel sums its counters of pages lazily
/// (proc.rst in Linux's documentation), so a figure may lag by some tens of pages a processor: 208 KiB were seen on two.
struct ProcessMemory {
  std::uint64_t resident = 0;  ///< VmRSS
  std::uint64_t peak = 0;      ///< VmHWM since the process was exec'd or the peak was reset
};
tl::expected<ProcessMemory, std::string> readMemory();
/// The same from the text of such a file. Errors: a field is missing or no number.
tl::expected<ProcessMemory, std::string> parseStatus(const std::string& text);

/// Sets VmHWM back to VmRSS by writing 5 to /proc/self/clear_refs (man 5 proc). Errors: the reason, where the kernel does not
/// permit it; VmHWM then still counts what set-up took, and is an upper bound of the peak of the steps.
tl::expected<void, std::string> resetPeak();

/// Seconds of a monotonic clock; only differences mean something.
double monotonicSeconds();
/// Seconds since 1970-01-01 UTC.
double unixSeconds();

/// Where counters of energy are: /sys/class/powercap, or what TBEM_POWERCAP says, as in a container that has the machine's
/// elsewhere.
std::string powercapFolder();

/// What counts the energy that steps take.
class EnergySource {
public:
  EnergySource() = default;
  virtual ~EnergySource() = default;
  EnergySource(const EnergySource&) = delete;
  EnergySource& operator=(const EnergySource&) = delete;

  /// Why it counts nothing; "": it does.
  virtual const std::string& reason() const = 0;
  virtual void start() = 0;
  /// Adds what was used since the last look.
  virtual void look() = 0;
  /// Joules from `start` to the last `look`; empty where a counter could not be read.
  virtual std::optional<double> joules() const = 0;
  /// Seconds from `start` to the last look in which the counter moves so often that a tick more or less does not matter.
  virtual double window() const = 0;
  /// Watts that are used when there is nothing to do, where that was measured.
  virtual std::optional<double> restingPower() const { return std::nullopt; }
};

/// Counts nothing, for a reason.
class NoEnergy final : public EnergySource {
public:
  explicit NoEnergy(std::string why) : why(std::move(why)) {}
  const std::string& reason() const override { return why; }
  void start() override {}
  void look() override {}
  std::optional<double> joules() const override { return std::nullopt; }
  double window() const override { return 0; }

private:
  std::string why;
};

/// Energy of all processor packages from RAPL counters (Linux powercap, `intel-rapl:N/energy_uj`, which AMD's driver uses as
/// well). It is the energy of the whole machine's packages, whoever used it. Where there are none, or root alone may read
/// them (CVE-2020-8694), `reason()` says so and `joules()` is empty.
class EnergyMeter final : public EnergySource {
public:
  explicit EnergyMeter(const std::string& root = powercapFolder());
  bool available() const { return !domains.empty(); }
  const std::string& reason() const override { return why; }
  void start() override;
  /// A counter wraps at `max_energy_range_uj` (about 20 minutes at full load): look
  /// more often than that; one wrap between two looks is accounted for.
  void look() override;
  std::optional<double> joules() const override;
  static constexpr double kWindow = 1;  ///< a thousand ticks
  double window() const override { return kWindow; }

private:
  struct Domain {
    std::string file;
    std::uint64_t range = 0;  ///< microjoules
    std::uint64_t last = 0;
  };
  std::vector<Domain> domains;
  std::string why;
  double total = 0;  ///< microjoules
  bool broken = false;
};

}  // namespace tbem::measure
