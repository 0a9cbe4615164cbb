// Running the trainings of a program.
#pragma once

#include "compiler/driver/Pipeline.h"

#include <string>

namespace tbem::driver {

/// Where a training's checkpoint lies: --out, or NAME.out beside the program; "" for -e and standard input without --out.
std::string checkpointPath(const Workspace& workspace, const TrainingRun& training, const Options& options);

/// Runs the trainings of a state that has passed `lower`, in order, with progress on standard error. The exit status: kOk,
/// kRunFailed, kEnvironment (data that are not there, a checkpoint that is another's, a file that cannot be written),
/// kInterrupted.
int runTrainings(show::Out& out, State& state);

}  // namespace tbem::driver
