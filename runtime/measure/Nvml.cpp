#include "runtime/measure/Nvml.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <vector>

namespace tbem::measure {

namespace {

constexpr int kInsufficientSize = 7;                 // NVML_ERROR_INSUFFICIENT_SIZE
constexpr unsigned long long kNotAvailable = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE

/// nvmlProcessInfo_t, as version 3 of the function fills it.
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedMemory;
  unsigned instance, computeInstance;
};

}  // namespace

/// The part of NVML that is used: every function answers an nvmlReturn_t, of which 0 is success.
struct NvmlCard::Library {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*byBusId)(const char* busId, void** device) = nullptr;
  int (*energy)(void* device, unsigned long long* millijoules) = nullptr;
  int (*processes)(void* device, unsigned* count, ProcessInfo* infos) = nullptr;  ///< null: not in this NVML
  int (*clock)(void* device, int which, unsigned* megahertz) = nullptr;           ///< these three may be null, too
  int (*temperature)(void* device, int sensor, unsigned* degrees) = nullptr;
  int (*heldBack)(void* device, unsigned long long* reasons) = nullptr;
  const char* (*words)(int status) = nullptr;
  std::string why;  ///< it cannot be used; "": it can

  static const Library& opened() {
    static const Library kOpened = open();
    return kOpened;
  }

private:
  static Library open() {
    Library made;
    void* const file = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
      const char* const reason = ::dlerror();
      made.why = fmt::format("NVML cannot be opened: {}", reason != nullptr ? reason : "no reason is given");
      return made;
    }
    const auto take = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(file, name));
      if (function == nullptr && made.why.empty()) made.why = fmt::format("NVML has no {}", name);
    };
    take(made.init, "nvmlInit_v2");
    take(made.shutdown, "nvmlShutdown");
    take(made.byBusId, "nvmlDeviceGetHandleByPciBusId_v2");
    take(made.energy, "nvmlDeviceGetTotalEnergyConsumption");
    take(made.words, "nvmlErrorString");
    // What follows, some drivers have not; energy is read without it.
    const auto mayTake = [&](auto& function, const char* name) {
      if (function == nullptr) function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(file, name));
    };
    mayTake(made.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    mayTake(made.clock, "nvmlDeviceGetClockInfo");
    mayTake(made.temperature, "nvmlDeviceGetTemperature");
    mayTake(made.heldBack, "nvmlDeviceGetCurrentClocksEventReasons");
    mayTake(made.heldBack, "nvmlDeviceGetCurrentClocksThrottleReasons");  // as older drivers call it
    return made;
  }
};

NvmlCard::NvmlCard(const std::string& busId) {
  const Library& nvml = Library::opened();
  why = nvml.why;
  if (!why.empty()) return;
  if (const int status = nvml.init(); status != 0) {
    why = fmt::format("NVML does not start: {}", nvml.words(status));
    return;
  }
  library = &nvml;
  if (const int status = nvml.byBusId(busId.c_str(), &device); status != 0) {
    why = fmt::format("NVML does not know the card {}: {}", busId, nvml.words(status));
    device = nullptr;
  }
}

NvmlCard::~NvmlCard() {
  if (library != nullptr) (void)library->shutdown();
}

tl::expected<std::uint64_t, std::string> NvmlCard::energy() const {
  if (device == nullptr) return tl::unexpected(why);
  unsigned long long millijoules = 0;
  if (const int status = library->energy(device, &millijoules); status != 0)
    return tl::unexpected(fmt::format("NVML has no energy of the card: {}", library->words(status)));
  return millijoules;
}

tl::expected<std::uint64_t, std::string> NvmlCard::memoryOfThisProcess() const {
  if (device == nullptr) return tl::unexpected(why);
  if (library->processes == nullptr) return tl::unexpected(std::string("this NVML does not say what a process has"));
  std::vector<ProcessInfo> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  int status = library->processes(device, &count, processes.data());
  while (status == kInsufficientSize) {  // some may have come in between
    processes.resize(std::max<std::size_t>(count, 2 * processes.size()));
    count = static_cast<unsigned>(processes.size());
    status = library->processes(device, &count, processes.data());
  }
  if (status != 0)
    return tl::unexpected(fmt::format("NVML does not say which processes use the card: {}", library->words(status)));
  processes.resize(count);
  const auto own = std::ranges::find(processes, static_cast<unsigned>(::getpid()), &ProcessInfo::pid);
  if (own == processes.end()) return tl::unexpected(std::string("NVML does not know this process"));
  if (own->usedMemory == kNotAvailable) return tl::unexpected(std::string("NVML does not say what this process has"));
  return own->usedMemory;
}

CardState NvmlCard::state() const {
  CardState found;
  if (device == nullptr) return found;
  constexpr int kMultiprocessors = 1, kMemory = 2, kOfChip = 0;  // NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU
  const auto ask = [this](auto function, int which) -> std::optional<double> {
    unsigned value = 0;
    if (function == nullptr || function(device, which, &value) != 0) return std::nullopt;
    return value;
  };
  found.clock = ask(library->clock, kMultiprocessors);
  found.memoryClock = ask(library->clock, kMemory);
  found.temperature = ask(library->temperature, kOfChip);
  unsigned long long reasons = 0;
  if (library->heldBack != nullptr && library->heldBack(device, &reasons) == 0) found.heldBack = reasons;
  return found;
}

std::string throttlesOf(std::uint64_t heldBack) {
  // NVML API Reference Guide, "NvmlClocksEventReasons"; the first is that the card has nothing to do.
  constexpr const char* kNames[] = {nullptr,
                                    "applications_clocks_setting",
                                    "sw_power_cap",
                                    "hw_slowdown",
                                    "sync_boost",
                                    "sw_thermal_slowdown",
                                    "hw_thermal_slowdown",
                                    "hw_power_brake_slowdown",
                                    "display_clock_setting"};
  std::string text;
  for (std::size_t bit = 1; bit < std::size(kNames); ++bit) {
    if ((heldBack >> bit & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(kNames[bit]);
  }
  return text;
}

}  // namespace tbem::measure
