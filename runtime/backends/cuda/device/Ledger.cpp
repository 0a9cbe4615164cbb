#include "runtime/backends/cuda/device/Ledger.h"

#include "runtime/backends/cuda/device/Device.h"

#include <atomic>

namespace tbem::cuda {

namespace {

std::atomic<bool> kept = false;

struct Book {
  std::mutex mutex;
  Ledger ledger;
};

/// Never destroyed: what ends with the process may still take or give.
Book& book() {
  static auto* const only = new Book;
  return *only;
}

std::optional<std::uint64_t> takenMemory(const Device& device) {
  std::size_t free = 0, total = 0;
  if (device.driver->memoryInfo(&free, &total) != 0) return std::nullopt;
  return total - free;
}

}  // namespace

std::optional<std::uint64_t> takenMemory() {
  const auto device = openDevice();
  return device ? takenMemory(**device) : std::nullopt;
}

void keepLedger() { kept = true; }

Ledger ledger() {
  const std::lock_guard lock(book().mutex);
  return book().ledger;
}

Booking::Booking(const Device& device, std::int64_t Ledger::*part) : device(device), part(part) {
  if (!kept) return;
  alone = std::unique_lock(book().mutex);
  before = takenMemory(device);
}

Booking::~Booking() {
  if (!before) return;
  if (const auto after = takenMemory(device)) book().ledger.*part += static_cast<std::int64_t>(*after - *before);
}

}  // namespace tbem::cuda
