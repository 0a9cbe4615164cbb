// `tbemc estimate --explain gradients`: how long a training step's gradients live, freed each with the update of its weight or
// kept to the end of the step as eager PyTorch keeps them, and what the other would cost.
#pragma once

#include "compiler/run/State.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

/// A line for every row that trains and was planned.
void explainGradients(show::Out& out, State& state);

}  // namespace tbem::driver
