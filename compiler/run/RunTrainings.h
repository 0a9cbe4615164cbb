// A training in this process: its step and its evaluations as native code, fed by its dataset, kept in a checkpoint.
#pragma once

#include "compiler/run/RunEvents.h"
#include "compiler/run/State.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

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

}  // namespace tbem::driver
