// What eager PyTorch would take for the same steps, on CUDA or on the processor, as it is shown.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/pytorch/rows/EagerRequest.h"
#include "compiler/run/State.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/BudgetReport.h"

#include <optional>
#include <string>

namespace tbem::driver {

struct PyTorchView {
  const EagerRequest& eager;
  const EngineRequest& engines;
  std::string folder;  ///< of a plot of memory over the step; "": none
  const BudgetVerdicts& budgets;
};
/// The estimates of a state that has passed `graph`, for its request's backend. The exit status: kOk, kVerdictAgainst where a row
/// does not pass the limit, or why PyTorch cannot be asked.
int printPyTorchEstimates(show::Out& out, State& state, const PyTorchView& view, const std::optional<FitLimit>& limit);

}  // namespace tbem::driver
