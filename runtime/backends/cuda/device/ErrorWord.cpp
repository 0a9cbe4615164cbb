#include "runtime/backends/cuda/device/ErrorWord.h"

#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Op.h"
#include "tbem/primitives.h"

#include <fmt/format.h>

#include <mutex>

namespace tbem::cuda {
namespace {

/// As kernels/Report.cuh writes it: the primitive above the place.
constexpr std::uint64_t kClean = ~std::uint64_t{0};
constexpr unsigned kPlaceBits = 48;

struct Word {
  std::mutex guard;
  DevicePointer address = 0;
};

Word& word() {
  static Word only;
  return only;
}

/// What the primitive's numbers are called.
const char* numbersOf(tbem_primitive primitive) {
  switch (primitive) {
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_gather_gradient:
      return "index";
    case TBEM_PRIMITIVE_move_rows:
      return "lists";
    default:
      return "target";
  }
}

tbem_status clean(const Device& device, DevicePointer address) {
  return check(device, device.driver->set8(address, 0xFF, sizeof kClean, device.stream), "cleaning the word of errors");
}

}  // namespace

tbem_status errorWord(DevicePointer& address) {
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  const std::lock_guard lock(word().guard);
  if (word().address == 0) {
    DevicePointer fresh = 0;
    const Booking booking(*device, &Ledger::memory);
    if (const tbem_status status = check(*device, device->driver->allocate(&fresh, sizeof kClean), "making the word of errors"))
      return status;
    if (const tbem_status status = clean(*device, fresh)) {
      (void)device->driver->release(fresh);
      return status;
    }
    word().address = fresh;
  }
  address = word().address;
  return TBEM_OK;
}

tbem_status readErrorWord() {
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  const std::lock_guard lock(word().guard);
  std::uint64_t found = kClean;
  if (word().address != 0) {
    const int copied = device->driver->copyOut(&found, word().address, sizeof found, device->stream);
    if (const tbem_status status = check(*device, copied, "reading the word of errors")) return status;
  }
  if (const tbem_status status = check(*device, device->driver->streamSynchronize(device->stream), "waiting for the device"))
    return status;
  if (found == kClean) return TBEM_OK;
  if (const tbem_status status = clean(*device, word().address)) return status;
  const auto primitive = static_cast<tbem_primitive>(found >> kPlaceBits);
  const std::uint64_t place = found & ((std::uint64_t{1} << kPlaceBits) - 1);
  return fail(TBEM_FAILED, fmt::format("{}: the number at position {} of its {} lies outside the axis",
                                       runtime::signature(primitive).name, place, numbersOf(primitive)));
}

}  // namespace tbem::cuda
