// A training in this process: its step and its evaluations as native code, fed by its dataset, kept in a checkpoint.
#pragma once

#include "compiler/run/RunEvents.h"
#include "compiler/run/State.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::driver {

struct Checkpointing {
  std::string path;    ///< where the training is kept; "": nowhere
  bool fresh = false;  ///< anew, whatever is there
};

/// Of a state that has passed `lower`. Request::interrupts end it after the step in hand (Outcome::Status::Interrupted). Errors:
/// kRunFailed (a step failed), kEnvironment (data or checkpoint cannot be read or written), kProgramErrors (no message).
tl::expected<train::Outcome, Failed> runTraining(RunEvents& events, State& state, const TrainingRun& training,
                                                 const Checkpointing& checkpoint);

/// What clause `harden` and clauses `turn` add to a training.
struct AddedCost {
  std::optional<double> moves, turns;  ///< FLOPs of all moves and of the steps of all turns, on the path that takes most
  std::optional<std::uint64_t>
      arena;  ///< bytes, in which they take turns with the step and the evaluations; nothing: not lowered
};
/// Of a state that has passed `graph`. Nothing: it has no such clause, or what is wrong with it was told.
std::optional<AddedCost> addedCost(State& state, const TrainingRun& training, const estimate::Convention& convention);

}  // namespace tbem::driver
