// One card as NVML knows it (NVML API Reference Guide). libnvidia-ml.so.1 is opened at run time.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::measure {

/// Of a card at one moment. Nothing: it does not say.
struct CardState {
  std::optional<double> clock, memoryClock;  ///< MHz; of the multiprocessors, and of the memory
  std::optional<double> temperature;         ///< degrees Celsius
  std::optional<std::uint64_t> heldBack;     ///< nvmlClocksEventReasons: why the clocks are not higher
};
/// What of these reasons makes a card slower than it could be, by the names that nvidia-smi gives them:
/// "sw_power_cap, hw_thermal_slowdown"; "": nothing, or only that it has nothing to do.
std::string throttlesOf(std::uint64_t heldBack);
/// In its place: it is not known what held a card back.
constexpr const char* kThrottlesUnknown = "unknown";

class NvmlCard {
public:
  /// `busId`: of the card, as cuDeviceGetPCIBusId gives it: "0000:3b:00.0". Where it cannot be opened, all answers say why.
  explicit NvmlCard(const std::string& busId);
  ~NvmlCard();
  NvmlCard(const NvmlCard&) = delete;
  NvmlCard& operator=(const NvmlCard&) = delete;

  /// nvmlDeviceGetTotalEnergyConsumption: millijoules since the driver was loaded, of the whole card, whoever used it. Errors:
  /// why it has none.
  tl::expected<std::uint64_t, std::string> energy() const;
  /// nvmlDeviceGetComputeRunningProcesses: bytes of the card that this process has, its context's with them. Errors: why it is
  /// not known; in a container NVML may not know the process by its number.
  tl::expected<std::uint64_t, std::string> memoryOfThisProcess() const;
  /// nvmlDeviceGetClockInfo, nvmlDeviceGetTemperature, nvmlDeviceGetCurrentClocksEventReasons.
  CardState state() const;

private:
  struct Library;
  const Library* library = nullptr;  ///< null: it was not started
  void* device = nullptr;            ///< null: there is nobody to ask
  std::string why;
};

}  // namespace tbem::measure
