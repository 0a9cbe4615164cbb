// The trainings of a program, run and shown.
#pragma once

#include "compiler/driver/Command.h"
#include "compiler/driver/RunPipeline.h"

#include <functional>

namespace tbem::driver {

/// Of a state that has passed `lower`, in order, with progress on standard error. The exit status: kOk, kRunFailed, kEnvironment
/// (data that are not there, a checkpoint that is another's, a file that cannot be written), kInterrupted.
int runTrainings(show::Out& out, PipelineState& state, const PipelineView& view);

/// What a command does with the trainings of a program and what follows them. The exit status.
using RunOfTrainings = std::function<int(PipelineState& state, PipelineView& view)>;

/// Makes a state that has passed `lower`, of trainings and what follows them alone, and does that. The exit status.
int withTrainings(show::Out& out, const CommandOptions& options, const RunOfTrainings& run);

}  // namespace tbem::driver
