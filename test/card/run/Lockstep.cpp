#include "test/card/run/Lockstep.h"

#include "test/card/run/Warp.h"

#include <algorithm>

namespace tbem::card {
namespace {

// Threads that run so long without waiting for another wait in a loop for what will never come.
constexpr std::uint64_t kLongest = 1ULL << 33;
// After so many instructions lanes that are ahead get their turn: those behind may wait in a loop for what they will write.
constexpr std::uint64_t kTurn = 1ULL << 16;

/// Lanes that stand together, and where they have to stop because others stand there.
struct Group {
  std::uint32_t mask = 0;
  std::uint32_t stop = ~0U;
  const Lane* first = nullptr;
};

bool standTogether(const Lane& a, const Lane& b) { return a.firstSlot == b.firstSlot && a.function == b.function; }

/// Those in the innermost function that are farthest behind, or farthest ahead. An empty mask: none can run.
Group choose(const Warp& warp, bool ahead) {
  Group group;
  for (std::uint32_t at = 0; at < warp.count; ++at) {
    const Lane& lane = warp.lanes[at];
    if (lane.state != Lane::State::Ready) continue;
    const Lane* first = group.first;
    const bool better = first == nullptr || lane.firstSlot > first->firstSlot ||
                        (lane.firstSlot == first->firstSlot && (ahead ? lane.next > first->next : lane.next < first->next));
    if (better) group.first = &lane;
  }
  if (group.first == nullptr) return group;
  for (std::uint32_t at = 0; at < warp.count; ++at) {
    const Lane& lane = warp.lanes[at];
    if (lane.state != Lane::State::Ready || !standTogether(lane, *group.first)) continue;
    if (lane.next == group.first->next)
      group.mask |= 1U << at;
    else if (lane.next > group.first->next)
      group.stop = std::min(group.stop, lane.next);
  }
  return group;
}

std::uint32_t guarded(const Instruction& in, const Warp& warp, std::uint32_t mask) {
  const std::uint64_t* guard = warp.row(in.guard);
  std::uint32_t is = 0;
  for (std::uint32_t at = 0; at < 32; ++at) is |= static_cast<std::uint32_t>(guard[at] & 1) << at;
  return mask & (in.guardIs != 0 ? is : ~is);
}

void setNext(Warp& warp, std::uint32_t mask, std::uint32_t next) {
  for (; mask != 0; mask &= mask - 1) warp.lanes[std::countr_zero(mask)].next = next;
}

/// Whether all lanes of the mask stand together behind an instruction, and can run.
bool stillTogether(const Warp& warp, std::uint32_t mask) {
  const Lane& first = warp.lanes[std::countr_zero(mask)];
  for (; mask != 0; mask &= mask - 1) {
    const Lane& lane = warp.lanes[std::countr_zero(mask)];
    if (lane.state != Lane::State::Ready || lane.next != first.next || !standTogether(lane, first)) return false;
  }
  return true;
}

/// Runs the lanes of a group until they part, stop, or have had their turn; how many instructions they ran.
std::uint64_t runGroup(Warp& warp, const Group& group) {
  const Lane& first = warp.lanes[std::countr_zero(group.mask)];
  std::uint32_t next = first.next;
  std::uint64_t steps = 0;
  const auto enter = [&] { warp.registers = warp.slots.data() + first.firstSlot * 32; };
  enter();
  for (; steps < kTurn && next != group.stop; ++steps) {
    const Instruction& in = first.function->code[next++];
    const std::uint32_t active = in.guard == kAlways ? group.mask : guarded(in, warp, group.mask);
    if (active == 0) continue;
    if (in.flow == Flow::Next) {
      in.handler(in, warp, active);
      continue;
    }
    if (in.flow == Flow::Branch) {
      const auto to = static_cast<std::uint32_t>(in.number);
      if (active == group.mask && to <= group.stop) {
        next = to;
        continue;
      }
      setNext(warp, group.mask, next);
      setNext(warp, active, to);
      return steps + 1;
    }
    setNext(warp, group.mask, next);
    in.handler(in, warp, active);
    if (group.stop != ~0U || !stillTogether(warp, group.mask)) return steps + 1;
    next = first.next;
    enter();
  }
  setNext(warp, group.mask, next);
  return steps;
}

/// Runs each thread of a warp that can run until it waits or ends. False: none could.
bool runReady(Block& block, Warp& warp) {
  std::uint64_t steps = 0;
  bool ahead = false;
  for (Group group = choose(warp, ahead); group.mask != 0; group = choose(warp, ahead)) {
    const std::uint64_t ran = runGroup(warp, group);
    steps += ran;
    block.launch->executed += ran * static_cast<std::uint64_t>(std::popcount(group.mask));
    ahead = ran >= kTurn && !ahead;
    if (steps > kLongest / 32)
      fail(*group.first, group.first->function->code[group.first->next], FaultKind::Deadlock, "runs for ever");
  }
  return steps != 0;
}

}  // namespace

bool runWarp(Block& block, std::size_t warp) {
  bool moved = false;
  do moved |= runReady(block, block.warps[warp]);
  while (meetWarp(block, warp));
  return moved;
}

}  // namespace tbem::card
