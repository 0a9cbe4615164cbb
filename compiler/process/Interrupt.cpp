#include "compiler/process/Interrupt.h"

namespace tbem::driver {

namespace {
// What a signal handler may touch must be static.
volatile std::sig_atomic_t asked = 0;
struct sigaction oldInterrupt {
}, oldTerminate{};
void onInterrupt(int) { asked = 1; }
}  // namespace

InterruptGuard::InterruptGuard() {
  asked = 0;
  struct sigaction action {};
  action.sa_handler = onInterrupt;
  sigaction(SIGINT, &action, &oldInterrupt);
  sigaction(SIGTERM, &action, &oldTerminate);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGTERM, &oldTerminate, nullptr);
}

const volatile std::sig_atomic_t* interruptFlag() { return &asked; }

}  // namespace tbem::driver
