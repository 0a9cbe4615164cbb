// What the fake backend is told to do wrong, by the environment variable TBEM_FAKE: directives separated by commas.
//
//   oom_at=100MiB       the allocation that would bring the bytes held above 100 MiB fails (B, KiB, MiB, GiB; no unit: bytes)
//   fail=conv2d:3       the third run of conv2d fails; fail=step:3 the third step (its synchronize); the count is optional: 1
//   unsupported=conv2d  queries of conv2d answer that it is not there
//   slow=2.0            every run takes that many times as long (at least 1)
//   wrong=dense:2       the second run of dense adds 1 to the first element of its first result
//   crash=conv2d:2      the process aborts in the second run of conv2d; crash=step:2 at the end of the second step
//   hang=step:2         the process sleeps for ever there
//   probe=fail          the device is not there
//
// A text that does not fit this makes every function of the backend answer TBEM_INVALID with a message that says what is wrong.
// Counts are of one process and start again when the text changes.
#pragma once

#include "runtime/include/tbem/backend.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::fake {

enum class Deed { Fail, Wrong, Crash, Hang };

/// One directive about the `count`-th run of a primitive, or about a step where `primitive` is TBEM_PRIMITIVE_COUNT.
struct Event {
  Deed deed{};
  int primitive = TBEM_PRIMITIVE_COUNT;
  std::int64_t count = 1;
};

struct Script {
  std::string text;
  std::string wrong;                  ///< "" or what does not fit
  std::uint64_t memory = UINT64_MAX;  ///< bytes that may be held
  double slow = 1;
  bool absent = false;
  std::vector<int> unsupported;
  std::vector<Event> events;
};

/// Reads a text; never fails: `wrong` says what does not fit.
Script readScript(const std::string& text);

}  // namespace tbem::fake
