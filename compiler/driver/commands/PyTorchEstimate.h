// tbemc estimate --on pytorch: what eager PyTorch would take for the same step, on CUDA or (pytorch-cpu) on the processor.
#pragma once

#include "compiler/driver/Options.h"
#include "compiler/explore/FitLimit.h"

#include <optional>

namespace tbem::driver {

/// The estimates of a state that has passed `graph`. The exit status: kOk, kVerdictAgainst where a row does not pass the limit.
int printPyTorchEstimates(show::Out& out, State& state, const Options& options, const std::optional<FitLimit>& limit);

}  // namespace tbem::driver
