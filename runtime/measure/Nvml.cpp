#include "runtime/measure/Nvml.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
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
    // Of drivers from 510 on; energy is read without it.
    made.processes = reinterpret_cast<decltype(made.processes)>(::dlsym(file, "nvmlDeviceGetComputeRunningProcesses_v3"));
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

}  // namespace tbem::measure
