// Ctrl-C and SIGTERM as a question that long runs ask between their pieces.
#pragma once

#include <csignal>

namespace tbem::driver {

/// While it lives, Ctrl-C and SIGTERM end nothing: `interruptFlag` tells of them. One at a time.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};
/// Not 0: there was one since the guard was made.
const volatile std::sig_atomic_t* interruptFlag();

}  // namespace tbem::driver
