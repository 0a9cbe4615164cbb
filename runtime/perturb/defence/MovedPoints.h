// The points of series beside their examples. Internal to this folder.
#pragma once

#include "runtime/perturb/Examples.h"
#include "runtime/perturb/Result.h"

#include <vector>

namespace tbem::perturb {

/// The points of one method at the places of a batch; places behind the last one have the batch's own examples. `series` has a
/// point of each example, in order, with its inputs. Errors: it has not.
Result<std::vector<float>> pointsOf(const Series& series, const Batch& batch);

}  // namespace tbem::perturb
