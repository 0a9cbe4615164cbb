// The largest levels that fit a memory: as a table, or a JSON object for each row.
#pragma once

#include "compiler/explore/Fit.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

void printFit(show::Out& out, const Fitter& fitter, const FitDesign& design);

}  // namespace tbem::driver
