// Allocator histories as lines of JSON: what is read has the form that a replay relies on, and can be replayed.
#include "compiler/pytorch/allocator/ReplayTrace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem;
  const auto trace = driver::readJsonTrace({reinterpret_cast<const char*>(data), size});
  if (!trace) {
    if (trace.error().empty()) __builtin_trap();
    return 0;
  }
  if (trace->recordedAt.size() != trace->entries.size()) __builtin_trap();
  estimate::CardMemory card;
  card.capacity = card.total = std::uint64_t{1} << 34U;
  const estimate::AllocatorHistory history = estimate::historyOf(*trace, {}, std::nullopt, card.total);
  if (history.events.size() != history.entry.size()) __builtin_trap();
  (void)estimate::checkTrace(*trace, history, {}, card);
  const estimate::AllocatorStatistics counts = estimate::replay(history.events, {}, card).statistics;
  if (counts.allocated.now > counts.active.now || counts.active.now > counts.reserved.now) __builtin_trap();
  return 0;
}
