// tbemc estimate --on pytorch: what eager PyTorch would take for the same step, on CUDA or (pytorch-cpu) on the processor.
#pragma once

#include "compiler/driver/EagerSteps.h"

namespace tbem::driver {

/// The estimates of a state that has passed `graph`. The exit status: kOk, kVerdictAgainst where a row does not pass --max.
int printPyTorchEstimates(State& state);

}  // namespace tbem::driver
