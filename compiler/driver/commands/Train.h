// Running the trainings of a program.
#pragma once

#include "compiler/driver/Options.h"
#include "compiler/run/State.h"

namespace tbem::driver {

/// Runs the trainings of a state that has passed `lower`, in order, with progress on standard error. The exit status: kOk,
/// kRunFailed, kEnvironment (data that are not there, a checkpoint that is another's, a file that cannot be written),
/// kInterrupted.
int runTrainings(show::Out& out, State& state, const Options& options);

}  // namespace tbem::driver
