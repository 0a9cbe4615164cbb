// Which forward values to compute again, so that a step's memory stays below a limit at the least cost in FLOPs.
//
// The problem is Checkmate's (Jain et al. 2020, arXiv 1910.02653, section 4: least sum of the costs of repetitions such that live
// bytes stay below the budget at every operator) with each value computed at most twice. Its integer program takes minutes; this
// drops values one at a time, or all of one block at once, each time what takes most bytes over the limit away for a FLOP, and
// then takes back what is not needed. Deterministic; effort is counted in questions to the model, not in seconds.
#pragma once

#include "compiler/lower/recompute/RecomputeModel.h"

#include <optional>
#include <vector>

namespace tbem::estimate {

/// Values that stay, by storage. A peak of the model; nothing where none was found.
std::optional<std::vector<bool>> chooseBelow(RecomputeModel& model, std::uint64_t limit);

/// Choices whose peak in the model is lower and lower, the last one the lowest that was found.
std::vector<std::vector<bool>> chooseLower(RecomputeModel& model);

}  // namespace tbem::estimate
