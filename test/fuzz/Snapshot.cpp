// Memory snapshots of PyTorch (pickles): what is read can be replayed, under the options it tells and others; the counters agree
// with each other at the end.
#include "compiler/pytorch/allocator/SnapshotFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::estimate;
  const auto snapshot = readSnapshot({reinterpret_cast<const char*>(data), size});
  if (!snapshot) {
    const tbem::data::PickleFault& fault = snapshot.error();
    if (fault.offset > size || fault.cause.empty() || fault.wayOut.empty()) __builtin_trap();
    return 0;
  }
  CardMemory card;
  card.capacity = card.total = std::uint64_t{1} << 34U;
  for (const AllocatorTrace& trace : snapshot->cards) {
    const auto recorded = parseAllocatorOptions(trace.settings.value_or(""));
    const AllocatorOptions options = recorded ? *recorded : AllocatorOptions{};
    const AllocatorHistory history = historyOf(trace, options, card.capacity, card.total);
    if (history.events.size() != history.entry.size() || history.before > history.events.size()) __builtin_trap();
    const TraceCheck check = checkTrace(trace, history, options, card);
    if ((check.verdict == TraceCheck::Verdict::Differs) != check.difference.has_value()) __builtin_trap();
    AllocatorOptions other;
    other.expandableSegments = !options.expandableSegments;
    for (const AllocatorOptions& with : {options, other}) {
      const AllocatorStatistics counts = replay(history.events, with, card).statistics;
      if (counts.allocated.now > counts.active.now || counts.active.now > counts.reserved.now) __builtin_trap();
      if (counts.reserved.peak > card.capacity || counts.requested.now > counts.active.now) __builtin_trap();
    }
    for (std::size_t e = 0; e < trace.entries.size(); ++e) (void)placeOf(*snapshot, trace, e);
  }
  return 0;
}
