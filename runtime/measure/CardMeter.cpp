#include "runtime/measure/CardMeter.h"

#include <fmt/format.h>

#include <dlfcn.h>

#include <chrono>
#include <thread>

namespace tbem::measure {

/// The part of NVML that is used (NVML API Reference Guide): every function answers an nvmlReturn_t, of which 0 is success.
struct CardMeter::Library {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*byBusId)(const char* busId, void** device) = nullptr;
  int (*energy)(void* device, unsigned long long* millijoules) = nullptr;
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
    return made;
  }
};

CardMeter::CardMeter(const std::string& busId) {
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
    return;
  }
  start();
}

CardMeter::~CardMeter() {
  if (library != nullptr) (void)library->shutdown();
}

std::optional<std::uint64_t> CardMeter::read() {
  if (device == nullptr) return std::nullopt;
  unsigned long long now = 0;
  if (const int status = library->energy(device, &now); status != 0) {
    why = fmt::format("NVML has no energy of the card: {}", library->words(status));
    device = nullptr;
    return std::nullopt;
  }
  return now;
}

void CardMeter::start() { first = last = read().value_or(0); }

void CardMeter::look() { last = read().value_or(last); }

std::optional<double> CardMeter::joules() const {
  if (device == nullptr) return std::nullopt;
  return static_cast<double>(last - first) * 1e-3;
}

std::optional<double> CardMeter::atRest(double seconds) {
  start();
  if (device == nullptr) return std::nullopt;
  const double begin = monotonicSeconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  look();
  const std::optional<double> used = joules();
  return used ? std::optional(*used / (monotonicSeconds() - begin)) : std::nullopt;
}

}  // namespace tbem::measure
