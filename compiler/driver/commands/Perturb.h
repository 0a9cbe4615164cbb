// The trainings of a program and its perturbations, run and shown.
#pragma once

#include "compiler/driver/RunPipeline.h"

namespace tbem::driver {

/// Of a state that has passed `lower`: trainings that are not finished, then the perturbations, in order, with progress on
/// standard error. `points`: each point is shown. A training that failed does not end the perturbations of others. The exit
/// status, as of runTrainings.
int runTrainingsAndPerturbations(show::Out& out, PipelineState& state, const PipelineView& view, bool points);

}  // namespace tbem::driver
