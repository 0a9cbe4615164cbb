// Predictions of a program's regressions, as lines or JSON.
#pragma once

#include "compiler/experiment/Predictions.h"
#include "compiler/show/Out.h"

#include <vector>

namespace tbem::driver {

/// A point outside the measured region is told of in the session (W-codes), one that cannot be evaluated too.
void printPredictions(show::Out& out, const std::vector<Predicted>& predicted);

}  // namespace tbem::driver
