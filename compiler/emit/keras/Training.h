// The training step of a task in Keras. Internal to compiler/emit/keras.
#pragma once

#include "compiler/emit/keras/Layouts.h"
#include "compiler/emit/python/Program.h"

#include <string>
#include <vector>

namespace tbem::emit::keras {

/// What a step of the row computes beside the network.
struct StepText {
  std::vector<std::string> inputs;  ///< names of the network's inputs
  std::string loss;                 ///< what `compile` is given as such; empty: no step
  std::string lossFunction;         ///< the function of that name, two empty lines before it; empty: Keras has it
  bool wantsShares = false;         ///< the target lies between 0 and 1
  std::string optimizer;            ///< the optimiser's constructor
  std::string optimizerClass;       ///< its class, two empty lines before it; empty: Keras has it
  std::string rate;                 ///< statements that return the learning rate of `step`; empty: the optimiser's own
  std::int64_t parts = 1;           ///< micro-batches of which the step adds up the gradients
};

tl::expected<StepText, Refusal> stepText(const graph::Row& row);
/// What objects of keras.Model, and the functions of a program, have already.
const TakenWords& kerasWords();
/// The loss, as `compile` is given it; its function where Keras has none (Losses.cpp).
tl::expected<StepText, Refusal> withLoss(const graph::Row& row, const graph::Call& loss, StepText step);
/// The optimiser; its class where Keras's computes something else (Optimizers.cpp).
tl::expected<StepText, Refusal> withOptimizer(const graph::Row& row, const graph::Call& optimizer, StepText step);

}  // namespace tbem::emit::keras
