// Everything that can be known of a program without running it: what `tbemc check` and a session ask, so that they say the same.
#pragma once

#include "compiler/run/State.h"

namespace tbem::driver {

/// Before the stage `design`: a program with very many rows is checked row by row, and none is kept.
void leaveManyRows(State& state);
/// Of a state that has passed `graph` without errors: measurements, regressions and predictions, element types, networks without
/// a design, processes, and proofs for all levels. What there is to say goes to the session.
void checkBeyondGraphs(State& state);

}  // namespace tbem::driver
