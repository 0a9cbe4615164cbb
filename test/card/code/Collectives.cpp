// shfl, vote, match, activemask, barriers (PTX ISA 9.0, sections 9.7.9.6 and 9.7.13).
#include "test/card/code/Handlers.h"
#include "test/card/run/Warp.h"

namespace tbem::card {
namespace {

/// Waits for the lanes of the mask in from[3]; the predicate of a vote is in from[0].
template <bool Votes>
bool waitForLanes(const Instruction& in, Lane& lane) {
  lane.mask = lane.get<std::uint32_t>(in.from[3]);
  if ((lane.mask >> lane.inWarp() & 1) == 0)
    fail(lane, in, FaultKind::Collective, "takes part in a collective whose mask leaves it out");
  if constexpr (Votes) lane.predicate = ((lane.at(in.from[0]) & 1) != 0) != ((in.flags & kNegateLast) != 0);
  lane.waiting = &in;
  lane.state = Lane::State::Collective;
  return false;
}

void setKind(Site& site, Collective kind) { site.in.number = static_cast<std::int64_t>(kind); }

/// A result, and a predicate that may be left out: d|p.
void targets(Site& site, Type type) {
  const Operand& results = site.operand(0);
  const bool two = results.kind == Operand::Kind::List && results.parts.size() == 2;
  site.in.to[0] = site.target(two ? results.parts[0] : results, type);
  site.in.to[1] = two ? site.target(results.parts[1], Type::Pred) : static_cast<std::uint32_t>(Special::Sink);
}

void shfl(Site& site) {
  site.expect("sync");
  if (site.take("up"))
    setKind(site, Collective::ShuffleUp);
  else if (site.take("down"))
    setKind(site, Collective::ShuffleDown);
  else if (site.take("bfly"))
    setKind(site, Collective::ShuffleButterfly);
  else if (site.take("idx"))
    setKind(site, Collective::ShuffleIndex);
  else
    site.fail("says not from where");
  site.expect("b32");
  site.finish();
  site.expectOperands(5, 5);
  targets(site, Type::B32);
  for (std::size_t at = 0; at < 4; ++at) site.in.from[at] = site.source(at + 1, Type::B32);
  site.emitFlow(each<waitForLanes<false>>);
}

void vote(Site& site) {
  site.expect("sync");
  Type type = Type::Pred;
  if (site.take("ballot")) {
    setKind(site, Collective::VoteBallot);
    site.expect("b32");
    type = Type::B32;
  } else {
    if (site.take("all"))
      setKind(site, Collective::VoteAll);
    else if (site.take("any"))
      setKind(site, Collective::VoteAny);
    else if (site.take("uni"))
      setKind(site, Collective::VoteUniform);
    else
      site.fail("says not what it asks");
    site.expect("pred");
  }
  site.finish();
  site.expectOperands(3, 3);
  site.in.to[0] = site.target(0, type);
  bool negated = false;
  site.in.from[0] = site.predicate(site.operand(1), negated);
  if (negated) site.in.flags |= kNegateLast;
  site.in.from[3] = site.source(2, Type::B32);
  site.emitFlow(each<waitForLanes<true>>);
}

void match(Site& site) {
  const bool all = site.take("all");
  if (!all) site.expect("any");
  site.expect("sync");
  const Type type = site.expectType(kWords);
  site.finish();
  site.expectOperands(3, 3);
  if (type == Type::B32)
    setKind(site, all ? Collective::MatchAll32 : Collective::MatchAny32);
  else
    setKind(site, all ? Collective::MatchAll64 : Collective::MatchAny64);
  targets(site, Type::B32);
  site.in.from[0] = site.source(1, type);
  site.in.from[3] = site.source(2, Type::B32);
  site.emitFlow(each<waitForLanes<false>>);
}

// Which lanes run together is the card's choice. This one lets each run alone, which code that guesses does not expect.
bool alone(const Instruction& in, Lane& lane) {
  lane.set(in.to[0], 1U << lane.inWarp());
  return true;
}

void activemask(Site& site) {
  site.expect("b32");
  site.finish();
  site.expectOperands(1, 1);
  site.in.to[0] = site.target(0, Type::B32);
  site.emit(each<alone>);
}

/// Barrier from[0] for from[1] threads (0: all); the predicate of a reduction is in from[2].
template <bool Aligned>
bool waitAtBarrier(const Instruction& in, Lane& lane) {
  lane.barrier = lane.get<std::uint32_t>(in.from[0]);
  lane.barrierThreads = lane.get<std::uint32_t>(in.from[1]);
  if (lane.barrier > 15) fail(lane, in, FaultKind::Deadlock, "there are 16 barriers, from 0");
  if (lane.barrierThreads % 32 != 0) fail(lane, in, FaultKind::Deadlock, "a barrier is for whole warps");
  lane.predicate = ((lane.at(in.from[2]) & 1) != 0) != ((in.flags & kNegateLast) != 0);
  lane.alignedBarrier = Aligned;
  lane.waiting = &in;
  lane.state = Lane::State::Barrier;
  return false;
}

void waitFor(Site& site, std::size_t first, std::size_t end, bool aligned) {
  site.in.from[0] = site.source(first, Type::U32);
  site.in.from[1] = end - first > 1 ? site.source(first + 1, Type::U32) : site.function.constant(0);
  site.emitFlow(aligned ? each<waitAtBarrier<true>> : each<waitAtBarrier<false>>);
}

void reduce(Site& site, bool aligned) {
  const bool count = site.take("popc");
  BarrierResult result = BarrierResult::Count;
  if (!count) result = site.take("and") ? BarrierResult::And : BarrierResult::Or;
  if (result == BarrierResult::Or) site.expect("or");
  site.in.number = static_cast<std::int64_t>(result);
  const Type type = site.expectType({count ? Type::U32 : Type::Pred});
  site.finish();
  site.expectOperands(3, 4);
  site.in.to[0] = site.target(0, type);
  bool negated = false;
  const std::size_t last = site.operands() - 1;
  site.in.from[2] = site.predicate(site.operand(last), negated);
  if (negated) site.in.flags |= kNegateLast;
  waitFor(site, 1, last, aligned);
}

void barrier(Site& site, bool aligned) {
  site.take("cta");
  if (site.take("red")) return reduce(site, aligned);
  site.expect("sync");
  site.finish();
  site.expectOperands(1, 2);
  waitFor(site, 0, site.operands(), aligned);
}

void bar(Site& site) {
  if (!site.take("warp")) return barrier(site, true);
  site.expect("sync");
  site.finish();
  site.expectOperands(1, 1);
  setKind(site, Collective::SyncWarp);
  site.in.from[3] = site.source(0, Type::B32);
  site.emitFlow(each<waitForLanes<false>>);
}

void barrierOf(Site& site) { barrier(site, site.take("aligned")); }

}  // namespace

std::vector<OpcodeRow> warpOpcodes() {
  return {{"shfl", shfl}, {"vote", vote}, {"match", match}, {"activemask", activemask}, {"bar", bar}, {"barrier", barrierOf}};
}

}  // namespace tbem::card
