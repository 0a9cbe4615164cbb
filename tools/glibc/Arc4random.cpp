// LLVM's archives as Debian 12 has them call arc4random, which glibc has from 2.36 on, and of what programs need it is all that
// is newer than 2.35 (Ubuntu 22.04). With this one in their place, programs that were built here start there too.
#include <sys/random.h>

#include <cstdint>

/// 32 random bits of the kernel. Not for other libraries of the process, which have their own.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  return bits;
}
