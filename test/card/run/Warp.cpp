#include "test/card/run/Warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tbem::card {
namespace {

using Members = std::array<Lane*, 32>;

std::uint32_t maskOf(const Members& members) {
  std::uint32_t mask = 0;
  for (std::uint32_t at = 0; at < 32; ++at) mask |= (members[at] != nullptr ? 1U : 0U) << at;
  return mask;
}

/// PTX ISA 9.0, section 9.7.9.6: from which lane, and whether it lies within bounds.
std::pair<std::int32_t, bool> sourceOf(Collective kind, std::int32_t lane, std::uint32_t distance, std::uint32_t clamp) {
  const auto by = static_cast<std::int32_t>(distance & 31), segment = static_cast<std::int32_t>(clamp >> 8 & 31);
  const std::int32_t least = lane & segment, most = least | (static_cast<std::int32_t>(clamp & 31) & ~segment);
  switch (kind) {
    case Collective::ShuffleUp:
      return {lane - by, lane - by >= most};
    case Collective::ShuffleDown:
      return {lane + by, lane + by <= most};
    case Collective::ShuffleButterfly:
      return {lane ^ by, (lane ^ by) <= most};
    default:
      return {least | (by & ~segment), (least | (by & ~segment)) <= most};
  }
}

void shuffle(Collective kind, const Members& members) {
  std::array<std::uint32_t, 32> values{};
  std::array<bool, 32> inside{};
  for (std::int32_t at = 0; at < 32; ++at) {
    Lane* lane = members[at];
    if (lane == nullptr) continue;
    const Instruction& in = *lane->waiting;
    auto [source, within] = sourceOf(kind, at, lane->get<std::uint32_t>(in.from[1]), lane->get<std::uint32_t>(in.from[2]));
    if (!within) source = at;
    if (members[source] == nullptr)
      fail(*lane, in, FaultKind::Collective,
           fmt::format("takes its value from lane {}, which does not take part or has ended", source));
    values[at] = members[source]->get<std::uint32_t>(members[source]->waiting->from[0]);
    inside[at] = within;
  }
  for (std::uint32_t at = 0; at < 32; ++at) {
    if (members[at] == nullptr) continue;
    members[at]->set(members[at]->waiting->to[0], values[at]);
    members[at]->set(members[at]->waiting->to[1], static_cast<bool>(inside[at]));
  }
}

void vote(Collective kind, const Members& members) {
  std::uint32_t ballot = 0;
  for (std::uint32_t at = 0; at < 32; ++at)
    if (members[at] != nullptr && members[at]->predicate) ballot |= 1U << at;
  const bool all = ballot == maskOf(members);
  for (Lane* lane : members) {
    if (lane == nullptr) continue;
    const std::uint32_t to = lane->waiting->to[0];
    if (kind == Collective::VoteBallot)
      lane->set(to, ballot);
    else if (kind == Collective::VoteAll)
      lane->set(to, all);
    else if (kind == Collective::VoteAny)
      lane->set(to, ballot != 0);
    else
      lane->set(to, all || ballot == 0);
  }
}

template <class T>
void match(bool all, const Members& members) {
  std::array<std::uint32_t, 32> same{};
  for (std::uint32_t at = 0; at < 32; ++at) {
    if (members[at] == nullptr) continue;
    const T value = members[at]->get<T>(members[at]->waiting->from[0]);
    for (std::uint32_t other = 0; other < 32; ++other)
      if (members[other] != nullptr && members[other]->get<T>(members[other]->waiting->from[0]) == value) same[at] |= 1U << other;
  }
  const std::uint32_t everyone = maskOf(members);
  for (std::uint32_t at = 0; at < 32; ++at) {
    if (members[at] == nullptr) continue;
    const Instruction& in = *members[at]->waiting;
    members[at]->set(in.to[0], all && same[at] != everyone ? 0U : same[at]);
    if (all) members[at]->set(in.to[1], same[at] == everyone);
  }
}

void doCollective(Collective kind, const Members& members) {
  switch (kind) {
    case Collective::SyncWarp:
      return;
    case Collective::ShuffleUp:
    case Collective::ShuffleDown:
    case Collective::ShuffleButterfly:
    case Collective::ShuffleIndex:
      return shuffle(kind, members);
    case Collective::VoteAll:
    case Collective::VoteAny:
    case Collective::VoteUniform:
    case Collective::VoteBallot:
      return vote(kind, members);
    case Collective::MatchAny32:
    case Collective::MatchAll32:
      return match<std::uint32_t>(kind == Collective::MatchAll32, members);
    case Collective::MatchAny64:
    case Collective::MatchAll64:
      return match<std::uint64_t>(kind == Collective::MatchAll64, members);
  }
}

/// What each member did so far is known to all of them.
void orderLanes(Block& block, std::size_t warp, const Members& members) {
  auto& clocks = block.clocks[warp];
  std::array<std::uint16_t, 32> all{};
  for (std::uint32_t at = 0; at < 32; ++at) {
    if (members[at] == nullptr) continue;
    if (clocks[at][at] != kLatest) ++clocks[at][at];
    for (std::uint32_t other = 0; other < 32; ++other) all[other] = std::max(all[other], clocks[at][other]);
  }
  for (std::uint32_t at = 0; at < 32; ++at)
    if (members[at] != nullptr) clocks[at] = all;
}

/// The lanes of `lane`'s mask that exist and have not ended, if all of them wait at the same collective. False: one does not yet.
bool gather(Block& block, std::size_t warp, const Lane& lane, Members& members) {
  const std::size_t first = warp * 32;
  for (std::uint32_t at = 0; at < 32 && first + at < block.lanes.size(); ++at) {
    Lane& other = block.lanes[first + at];
    if ((lane.mask >> at & 1) == 0 || other.state == Lane::State::Ended) continue;
    if (other.state != Lane::State::Collective || other.mask != lane.mask || other.waiting->number != lane.waiting->number)
      return false;
    members[at] = &other;
  }
  return true;
}

/// The threads that wait at the barrier of `lane`.
std::vector<Lane*> waitersOf(Block& block, const Lane& lane) {
  std::vector<Lane*> waiters;
  for (Lane& other : block.lanes)
    if (other.state == Lane::State::Barrier && other.barrier == lane.barrier && other.barrierThreads == lane.barrierThreads)
      waiters.push_back(&other);
  return waiters;
}

void checkAligned(const std::vector<Lane*>& waiters) {
  for (std::size_t at = 1; at < waiters.size(); ++at) {
    const Lane &before = *waiters[at - 1], &lane = *waiters[at];
    if (before.index / 32 == lane.index / 32 && lane.alignedBarrier && before.waiting != lane.waiting)
      fail(lane, *lane.waiting, FaultKind::Deadlock,
           fmt::format("threads of one warp wait at different barriers; thread {} at line {}", before.index,
                       before.waiting->line));
  }
}

void leaveBarrier(Block& block, const std::vector<Lane*>& waiters) {
  const auto count =
      static_cast<std::uint32_t>(std::count_if(waiters.begin(), waiters.end(), [](const Lane* lane) { return lane->predicate; }));
  if (block.interval != kLatest) ++block.interval;
  for (Lane* lane : waiters) {
    const std::uint32_t to = lane->waiting->to[0];
    switch (static_cast<BarrierResult>(lane->waiting->number)) {
      case BarrierResult::None:
        break;
      case BarrierResult::Count:
        lane->set(to, count);
        break;
      case BarrierResult::And:
        lane->set(to, count == waiters.size());
        break;
      case BarrierResult::Or:
        lane->set(to, count != 0);
        break;
    }
    lane->state = Lane::State::Ready;
  }
}

}  // namespace

bool meetWarp(Block& block, std::size_t warp) {
  bool met = false;
  const std::size_t first = warp * 32, end = std::min(first + 32, block.lanes.size());
  for (std::size_t at = first; at < end; ++at) {
    const Lane& lane = block.lanes[at];
    Members members{};
    if (lane.state != Lane::State::Collective || !gather(block, warp, lane, members)) continue;
    doCollective(static_cast<Collective>(lane.waiting->number), members);
    orderLanes(block, warp, members);
    for (Lane* member : members)
      if (member != nullptr) member->state = Lane::State::Ready;
    met = true;
  }
  return met;
}

bool meetBarriers(Block& block) {
  bool met = false;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Lane& lane : block.lanes) {
    if (lane.state != Lane::State::Barrier) continue;
    const std::pair barrier{lane.barrier, lane.barrierThreads};
    if (std::find(seen.begin(), seen.end(), barrier) != seen.end()) continue;
    seen.push_back(barrier);
    const std::vector<Lane*> waiters = waitersOf(block, lane);
    const std::size_t wanted = lane.barrierThreads == 0 ? block.lanes.size() : lane.barrierThreads;
    if (waiters.size() < wanted) continue;
    if (waiters.size() > wanted)
      fail(lane, *lane.waiting, FaultKind::Deadlock, fmt::format("{} threads wait at a barrier for {}", waiters.size(), wanted));
    checkAligned(waiters);
    leaveBarrier(block, waiters);
    met = true;
  }
  return met;
}

void refuseDeadlock(const Block& block) {
  const Lane* first = nullptr;
  std::string others;
  unsigned told = 0;
  for (const Lane& lane : block.lanes) {
    if (lane.state != Lane::State::Ended && first == nullptr)
      first = &lane;
    else if (first != nullptr && lane.state == Lane::State::Ended && told++ < 4)
      others += fmt::format("; thread {} has ended", lane.index);
    else if (first != nullptr && lane.state != Lane::State::Ended && lane.waiting != first->waiting && told++ < 4)
      others += fmt::format("; thread {} waits at line {}", lane.index, lane.waiting->line);
  }
  for (const Lane& lane : block.lanes) {
    if (&lane == first) break;
    if (told++ < 4) others += fmt::format("; thread {} has ended", lane.index);
  }
  const std::string mask =
      first->state == Lane::State::Collective ? fmt::format(" for lanes {:#010x} of its warp", first->mask) : "";
  fail(*first, *first->waiting, FaultKind::Deadlock, "waits for ever" + mask + others);
}

}  // namespace tbem::card
