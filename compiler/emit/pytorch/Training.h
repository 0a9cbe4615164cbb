// The training step of a task in PyTorch. Internal to compiler/emit/pytorch.
#pragma once

#include "compiler/emit/pytorch/PyTorch.h"

#include <string>
#include <vector>

namespace tbem::emit {

/// What a step of the row computes beside the network.
struct StepText {
  std::vector<std::string> inputs;  ///< names of the network's inputs
  std::string loss;                 ///< an expression of `output` and `target`; empty: the network is only called
  std::string optimizer;            ///< the optimiser's constructor over `model.parameters()`; empty: weights stay
  std::string rate;                 ///< statements that return the learning rate of `step`; empty: the optimiser's own
  std::string clip;                 ///< a statement over the gradients; empty: none
};

tl::expected<StepText, Refusal> stepText(const graph::Row& row);
/// Statements that return the rate of `step` (Schedule.cpp).
tl::expected<std::string, Refusal> rateText(const graph::Row& row, graph::TensorId rate);

}  // namespace tbem::emit
