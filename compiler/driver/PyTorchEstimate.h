// tbemc estimate --on pytorch: what eager PyTorch would take for the same step, on CUDA or (pytorch-cpu) on the processor.
#pragma once

#include "compiler/driver/EagerWorkspaces.h"

#include <optional>
#include <string_view>

namespace tbem::driver {

/// Whether `--on` names PyTorch and no backend of ours.
bool isPyTorch(std::string_view backend);

/// Makes the steps of rows, as the options say: device, optimiser, and with --device the workspaces of convolutions.
class EagerSteps {
public:
  /// Errors: the exit status, after saying why.
  static tl::expected<EagerSteps, int> open(State& state);

  tl::expected<estimate::EagerStep, estimate::NoValue> of(const graph::Row& row);
  bool onCuda() const { return options.device == estimate::EagerDevice::Cuda; }
  /// Where --device names one.
  const std::optional<EagerWorkspaces>& workspaces() const { return asked; }
  /// Keeps what cuDNN was asked. kOk, or the exit status after saying why it could not be asked.
  int finish(const Options& options);

private:
  estimate::EagerOptions options;
  std::optional<EagerWorkspaces> asked;
};

/// The estimates of a state that has passed `graph`. The exit status: kOk, kVerdictAgainst where a row takes more than --max.
int printPyTorchEstimates(State& state);

}  // namespace tbem::driver
