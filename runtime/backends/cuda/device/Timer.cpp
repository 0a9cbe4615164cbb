#include "runtime/backends/cuda/device/Timer.h"

#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Op.h"

#include <array>
#include <cstddef>

namespace tbem::cuda {

namespace {

constexpr const char* kTiming = "reading the card's clock";

struct Timer {
  std::array<EventHandle, 2> events{};
  bool started = false, stopped = false;
};

Timer& timer() {
  static Timer only;
  return only;
}

tbem_status mark(std::size_t which) {
  if (const tbem_status status = openTimer()) return status;
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  return check(*device, device->driver->eventRecord(timer().events[which], device->stream), kTiming);
}

}  // namespace

tbem_status openTimer() {
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  for (EventHandle& event : timer().events) {
    if (event != nullptr) continue;
    const Booking booking(*device, &Ledger::memory);
    if (const tbem_status status = check(*device, device->driver->eventCreate(&event, 0), kTiming)) return status;
  }
  return TBEM_OK;
}

tbem_status startTimer() {
  timer().started = timer().stopped = false;
  const tbem_status status = mark(0);
  timer().started = status == TBEM_OK;
  return status;
}

tbem_status stopTimer() {
  const tbem_status status = mark(1);
  timer().stopped = status == TBEM_OK;
  return status;
}

tbem_status readTimer(double& seconds) {
  if (!timer().started || !timer().stopped) return fail(TBEM_INVALID, "cuda: no step was timed");
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  const auto& [begin, end] = timer().events;
  if (const tbem_status status = check(*device, device->driver->eventSynchronize(end), kTiming)) return status;
  float milliseconds = 0;
  const tbem_status status = check(*device, device->driver->eventElapsed(&milliseconds, begin, end), kTiming);
  seconds = static_cast<double>(milliseconds) * 1e-3;
  return status;
}

void endTimer() {
  const auto device = openDevice();
  if (!device) return;
  for (EventHandle& event : timer().events) {
    if (event == nullptr) continue;
    const Booking booking(**device, &Ledger::memory);
    (void)(*device)->driver->eventDestroy(event);
    event = nullptr;
  }
  timer().started = timer().stopped = false;
}

std::uint64_t cacheBytes() {
  constexpr int kL2 = 38;  // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
  int bytes = 0;
  const auto device = openDevice();
  if (!device || (*device)->driver->deviceAttribute(&bytes, kL2, (*device)->handle) != 0 || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace tbem::cuda
