// Trains the network of a method that learns to move examples. Internal to this folder.
#pragma once

#include "runtime/perturb/Result.h"

#include <functional>
#include <optional>
#include <string>

namespace tbem::perturb {

/// Of Learning::step and, where there is one, of Learning::discriminator, with their weights.
struct Learners {
  runtime::Instance& step;
  runtime::Instance* discriminator = nullptr;
};

/// Epochs of shuffled batches of the training split, as any training has them: a last batch that is not full is left out.
/// `tell` gets the epoch and the loss of each step. Returns the seconds that it took; nothing: it was asked to stop. Errors:
/// examples that cannot be read or fill no batch, a loss that is not finite.
Result<std::optional<double>> learn(const Plan& plan, const data::Dataset& dataset, const Learning& learning,
                                    const Learners& learners, const std::function<void(const std::string&)>& tell,
                                    const std::function<bool()>& stop);

}  // namespace tbem::perturb
