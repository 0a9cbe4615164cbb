// Where threads wait for each other: collectives of warps, barriers of blocks.
#pragma once

#include "test/card/run/Lane.h"

namespace tbem::card {

/// Instruction::number of a collective. Operands: from[0] is the value, from[1] the lane or distance, from[2] the clamp; to[0]
/// the result, to[1] the predicate.
enum class Collective : std::int64_t {
  SyncWarp,
  ShuffleUp,
  ShuffleDown,
  ShuffleButterfly,
  ShuffleIndex,
  VoteAll,
  VoteAny,
  VoteUniform,
  VoteBallot,
  MatchAny32,
  MatchAny64,
  MatchAll32,
  MatchAll64
};

/// Instruction::number of a barrier: what it computes of the predicates of all its threads.
enum class BarrierResult : std::int64_t { None, Count, And, Or };

/// Does the collectives whose lanes are all there. False: none.
bool meetWarp(Block& block, std::size_t warp);
/// Lets threads go on from barriers at which enough wait. False: none.
bool meetBarriers(Block& block);

/// Every thread of the block waits or has ended, and nothing will ever come.
[[noreturn]] void refuseDeadlock(const Block& block);

}  // namespace tbem::card
