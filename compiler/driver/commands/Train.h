// Running the trainings of a program.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/run/State.h"

#include <string>

namespace tbem::driver {

struct TrainOptions {
  std::string folder;  ///< of checkpoints: `--out`
  bool fresh = false;  ///< whatever a checkpoint has
};
/// Runs the trainings of a state that has passed `lower`, in order, with progress on standard error. The exit status: kOk,
/// kRunFailed, kEnvironment (data that are not there, a checkpoint that is another's, a file that cannot be written),
/// kInterrupted.
int runTrainings(show::Out& out, State& state, const TrainOptions& options);

}  // namespace tbem::driver
