// tbemc estimate --on pytorch: what eager PyTorch would take for the same step, on CUDA or (pytorch-cpu) on the processor.
#pragma once

#include "compiler/driver/Pipeline.h"
#include "compiler/estimate/EagerStep.h"

#include <string_view>

namespace tbem::driver {

/// Whether `--on` names PyTorch and no backend of ours.
bool isPyTorch(std::string_view backend);
/// What the options say of the device and the optimiser.
estimate::EagerOptions eagerOptions(const Options& options);

/// The estimates of a state that has passed `graph`. The exit status: kOk, kVerdictAgainst where a row takes more than --max.
int printPyTorchEstimates(State& state);

}  // namespace tbem::driver
