// How designs are shown: their rows, and what counting says of their arrays.
#pragma once

#include "compiler/run/State.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

/// Which parts of a design are printed.
struct DesignView {
  bool rows = true, notes = true;
};
/// The designs of a state that has passed `design`: rows, and what counting shows of the array. `csv`: the arrays alone, as CSV.
void printDesigns(show::Out& out, const State& state, bool csv = false);
/// One of them, as text.
void printDesign(show::Out& out, const DesignRun& run, DesignView view);

}  // namespace tbem::driver
