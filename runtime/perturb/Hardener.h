// Moves a share of every batch of a training towards what costs the network most, so that it learns what to do there (adversarial
// training: Madry et al. 2018, equation 2.1, with the method's objective inside; that a share of the batch stays as it is keeps
// the accuracy on unmoved examples).
#pragma once

#include "runtime/perturb/Perturb.h"
#include "runtime/train/Trainer.h"

#include <cstdint>

namespace tbem::perturb {

/// `method` learns nothing and needs no label. `plan`: the batch, the seed, ball and box. Of each batch the first `moved`
/// examples are moved. The method's executable must outlive the result. Errors of its moves: an example of the batch outside the
/// box, a step that fails, a point that lies where none may.
train::Hardening hardening(Method method, const Plan& plan, std::int64_t moved);

}  // namespace tbem::perturb
