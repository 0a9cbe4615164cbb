// What a row takes in eager PyTorch, as a waterfall of named parts: for people, and as JSON.
#pragma once

#include "compiler/pytorch/rows/PyTorchMemory.h"
#include "compiler/show/Out.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tbem::driver {

/// "the peak is in the backward, at relu, net.tbem:4:7".
std::string peakText(const PyTorchMemory& memory, const SourceManager& sources);
/// The device's peak: "1.234 GiB", "at least 1.234 GiB".
std::string deviceText(const PyTorchMemory& memory);

/// Every part of the peak, the place in the program, the bounds, and what was asked of whom.
void printWaterfall(show::Out& out, const PyTorchMemory& memory, const EagerSteps& steps, const SourceManager& sources);
/// What is said of a row's limits.
struct PyTorchLimits {
  Json max;      ///< what --max asks and says; null without it
  Json budgets;  ///< of the design; null: it has none
};
void printPyTorchJson(show::Out& out, const State& state, const EagerRequest& request, const PyTorchMemory& memory,
                      const EagerSteps& steps, PyTorchLimits limits);

}  // namespace tbem::driver
