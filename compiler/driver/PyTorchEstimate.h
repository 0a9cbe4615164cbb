// tbemc estimate --on pytorch: what eager PyTorch would take for the same step, on CUDA or (pytorch-cpu) on the processor.
#pragma once

#include "compiler/driver/EagerSteps.h"
#include "compiler/driver/FitLimit.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tbem::driver {

/// "22GiB", "22GiB:upper". Errors: what is wrong with the text.
tl::expected<MemoryLimit, std::string> readGate(std::string_view text);

/// The estimates of a state that has passed `graph`. The exit status: kOk, kVerdictAgainst where a row does not pass --max.
int printPyTorchEstimates(State& state);

}  // namespace tbem::driver
