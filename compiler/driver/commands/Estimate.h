// Estimates as `tbemc estimate` and a program's run show them.
#pragma once

#include "compiler/driver/Options.h"
#include "compiler/run/State.h"

namespace tbem::driver {

/// The estimates of a state that has passed `lower`. The exit status: kOk, kVerdictAgainst where a row takes more than --max, or
/// why --roofline cannot be had.
int printEstimates(show::Out& out, State& state, const Options& options);
/// Of one design or of a training's step, as text. Without `rows`, for a design whose rows stand in another table: where the row
/// that takes most has its memory.
void printEstimate(show::Out& out, State& state, const Options& options, const DesignRun& run, bool rows);

}  // namespace tbem::driver
