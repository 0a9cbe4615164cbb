// What the stages' results look like to a person (or as JSON): designs and estimates.
#pragma once

#include "compiler/driver/Pipeline.h"

namespace tbem::driver {

/// Which parts of a design are printed.
struct DesignView {
  bool rows = true, notes = true;
};
/// The designs of a state that has passed `design`: rows, and what counting shows of the array.
void printDesigns(show::Out& out, const State& state);
/// One of them, as text.
void printDesign(show::Out& out, const DesignRun& run, DesignView view);
/// The estimates of a state that has passed `lower`. The exit status: kOk, kVerdictAgainst where a row takes more than --max, or
/// why --roofline cannot be had.
int printEstimates(show::Out& out, State& state);
/// Of one design or of a training's step, as text. Without `rows`, for a design whose rows stand in another table: where the row
/// that takes most has its memory.
void printEstimate(show::Out& out, State& state, const DesignRun& run, bool rows);

}  // namespace tbem::driver
