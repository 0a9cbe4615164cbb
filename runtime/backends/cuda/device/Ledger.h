// What is taken of the card's memory, by what takes it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace tbem::cuda {

struct Device;

/// Bytes of the card's memory that are taken at this moment, by this process and all others. Nothing: there is no card, or it
/// does not say.
std::optional<std::uint64_t> takenMemory();

/// What this backend took of the card beside its context, in bytes, by what took it.
struct Ledger {
  std::int64_t memory = 0;      ///< what `allocate` gave, and the word of errors
  std::int64_t modules = 0;     ///< kernels, the step's and the backend's own, as far as they are loaded before they run
  std::int64_t handles = 0;     ///< of cuDNN and cuBLASLt
  std::int64_t plans = 0;       ///< of cuDNN's operators
  std::int64_t recordings = 0;  ///< of steps, and of parts of steps
  std::int64_t all() const { return memory + modules + handles + plans + recordings; }
};
/// From now on such a ledger is kept: the driver is asked before and behind all that may take memory, one thing at a time.
void keepLedger();
Ledger ledger();

/// While it lives, what is taken of the card, or given back, is booked as `part`. One at a time: others wait, and a thread must
/// not make a second one. Where no ledger is kept it does nothing.
class Booking {
public:
  Booking(const Device& device, std::int64_t Ledger::*part);
  ~Booking();
  Booking(const Booking&) = delete;
  Booking& operator=(const Booking&) = delete;

private:
  const Device& device;
  std::int64_t Ledger::*const part;
  std::unique_lock<std::mutex> alone;
  std::optional<std::uint64_t> before;
};

}  // namespace tbem::cuda
