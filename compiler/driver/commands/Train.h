// The trainings of a program, run and shown.
#pragma once

#include "compiler/driver/RunPipeline.h"

namespace tbem::driver {

/// Of a state that has passed `lower`, in order, with progress on standard error. The exit status: kOk, kRunFailed, kEnvironment
/// (data that are not there, a checkpoint that is another's, a file that cannot be written), kInterrupted.
int runTrainings(show::Out& out, PipelineState& state, const PipelineView& view);

}  // namespace tbem::driver
