// A libnvidia-ml whose card takes as many watts as TBEM_NVML_WATTS says (100), and whose counter moves every 100 ms, as an H200's
// does. Without watts (`none`) it has no counter. It knows the card of test/card by its bus. With TBEM_NVML_PROCESS=card all that
// is taken of it is this process's, which is one of 80 that use it; where that is not set, it is none of them. Its clocks fall by
// 15 MHz each time that they are asked for, from 1980 MHz; it has 41 degrees, and one more each time. TBEM_NVML_REASONS is why
// its clocks are not higher (1, nothing to do); with `none` it does not say.
#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr int kSuccess = 0, kUninitialized = 1, kInvalid = 2, kUnsupported = 3, kNotFound = 6, kInsufficientSize = 7;
int started = 0;
int card = 0;

const char* watts() {
  const char* const text = std::getenv("TBEM_NVML_WATTS");
  return text != nullptr ? text : "100";
}

/// As the card says it.
unsigned long long taken() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* const memory = reinterpret_cast<int (*)(std::size_t*, std::size_t*)>(dlsym(driver, "cuMemGetInfo_v2"));
  std::size_t free = 0, total = 0;
  return memory != nullptr && memory(&free, &total) == 0 ? total - free : 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  ++started;
  return kSuccess;
}
int nvmlShutdown() { return started-- > 0 ? kSuccess : kUninitialized; }

const char* nvmlErrorString(int status) {
  return status == kUnsupported ? "Not Supported" : status == kNotFound ? "Not Found" : "Invalid Argument";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* busId, void** device) {
  if (started == 0) return kUninitialized;
  *device = &card;
  return std::strncmp(busId, "0000:0", 6) == 0 && std::strcmp(busId + 7, ":00.0") == 0 ? kSuccess : kNotFound;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  if (started == 0) return kUninitialized;
  if (device != &card) return kInvalid;
  if (std::strcmp(watts(), "none") == 0) return kUnsupported;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t ticks = std::int64_t{now.tv_sec} * 10 + now.tv_nsec / 100'000'000;
  *millijoules = static_cast<unsigned long long>(static_cast<double>(ticks) * 100 * std::atof(watts()));
  return kSuccess;
}

struct ProcessInfo {
  unsigned pid;
  unsigned long long usedMemory;
  unsigned instance, computeInstance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  constexpr unsigned kProcesses = 80;
  if (started == 0) return kUninitialized;
  if (device != &card) return kInvalid;
  const unsigned room = *count;
  *count = kProcesses;
  if (room < kProcesses) return kInsufficientSize;
  const auto self = static_cast<unsigned>(getpid());
  for (unsigned i = 0; i < kProcesses; ++i) infos[i] = {self + 1 + i, 1000, 0, 0};
  if (const char* const text = std::getenv("TBEM_NVML_PROCESS"); text != nullptr && std::strcmp(text, "card") == 0)
    infos[kProcesses - 1] = {self, taken(), 0, 0};
  return kSuccess;
}

int nvmlDeviceGetClockInfo(void* device, int which, unsigned* megahertz) {
  constexpr int kMultiprocessors = 1, kMemory = 2;
  static unsigned asked = 0;
  if (started == 0) return kUninitialized;
  if (device != &card || (which != kMultiprocessors && which != kMemory)) return kInvalid;
  *megahertz = which == kMemory ? 3201 : 1980 - 15 * asked++;
  return kSuccess;
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  static unsigned asked = 0;
  if (started == 0) return kUninitialized;
  if (device != &card || sensor != 0) return kInvalid;
  *degrees = 41 + asked++;
  return kSuccess;
}

/// As drivers before 535 call it.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  if (started == 0) return kUninitialized;
  if (device != &card) return kInvalid;
  const char* const text = std::getenv("TBEM_NVML_REASONS");
  if (text != nullptr && std::strcmp(text, "none") == 0) return kUnsupported;
  *reasons = text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
  return kSuccess;
}

}  // extern "C"
