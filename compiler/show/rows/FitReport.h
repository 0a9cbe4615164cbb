// The largest levels that fit a memory: as a table, or a JSON object for each row.
#pragma once

#include "compiler/explore/Fit.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

void printFits(show::Out& out, const FitAnswers& answers);

}  // namespace tbem::driver
