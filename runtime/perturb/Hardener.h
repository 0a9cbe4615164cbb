// Moves a share of every batch of a training towards what costs the network most, so that it learns what to do there (adversarial
// training: Madry et al. 2018, equation 2.1, with the method's objective inside; that a share of the batch stays as it is keeps
// the accuracy on unmoved examples).
#pragma once

#include "runtime/perturb/Perturb.h"
#include "runtime/train/Trainer.h"

#include <cstdint>

namespace tbem::perturb {

/// `method` learns nothing and needs no label; `batch`: examples of a step, of which the first `moved` are moved. The
/// executable of the method must outlive the result.
train::Hardening hardening(Method method, std::int64_t batch, std::int64_t moved);

}  // namespace tbem::perturb
