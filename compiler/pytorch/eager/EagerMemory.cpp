#include "compiler/pytorch/eager/EagerMemory.h"

#include <numeric>
#include <utility>
#include <vector>

namespace tbem::estimate {

namespace {

/// The step with the workspaces that were had.
EagerStep withTaken(EagerStep step, const Replay& replay) {
  for (const Replay::Smaller& smaller : replay.smaller)
    step.tensors[step.events[smaller.event].tensor].size = {smaller.bytes, smaller.bytes, smaller.bytes, {}};
  return step;
}

/// What is alive after an event, by kind, and what rounding adds.
void addLive(const EagerStep& step, const AllocatorOptions& options, EagerEngines engines, EagerMemory& memory) {
  std::vector<bool> failed(step.events.size(), false), missing(step.tensors.size(), false);
  for (const std::size_t event : memory.replay.outOfMemory) failed[event] = true;
  for (std::size_t e = 0; e <= memory.event && e < step.events.size(); ++e) {
    const EagerEvent& event = step.events[e];
    const EagerTensor& tensor = step.tensors[event.tensor];
    if (failed[e]) missing[event.tensor] = true;
    if (missing[event.tensor]) continue;
    const std::uint64_t bytes = tensor.bytes(engines);
    const std::uint64_t more = bytes == 0 ? 0 : roundedSize(options, bytes) - bytes;
    std::uint64_t& kind = memory.kinds[static_cast<std::size_t>(tensor.kind)];
    kind += event.frees ? -bytes : bytes;
    memory.rounding += event.frees ? -more : more;
  }
}

/// Of a step that was replayed as it is.
EagerMemory accountFor(const EagerStep& step, const AllocatorOptions& options, Replay replay, EagerEngines engines) {
  EagerMemory memory;
  memory.live = eagerPeak(step, kEagerBlock, engines);
  memory.replay = std::move(replay);
  memory.event = memory.replay.allocatedPeakAt;
  memory.allocated = memory.replay.statistics.allocated.peak;
  memory.reserved = memory.replay.statistics.reserved.peak;
  addLive(step, options, engines, memory);
  memory.unsplit =
      memory.allocated - std::accumulate(memory.kinds.begin(), memory.kinds.end(), memory.rounding, std::plus<std::uint64_t>());
  memory.free = memory.reserved - memory.allocated;
  return memory;
}

}  // namespace

EagerMemory eagerMemory(const EagerStep& step, const AllocatorOptions& options, const CardMemory& card, EagerEngines engines) {
  Replay replayed = replay(allocatorEvents(step, engines), options, card, ReplayUntil::End, smallerWorkspaces(step, engines));
  if (replayed.smaller.empty()) return accountFor(step, options, std::move(replayed), engines);
  const EagerStep taken = withTaken(step, replayed);
  return accountFor(taken, options, std::move(replayed), engines);
}

}  // namespace tbem::estimate
