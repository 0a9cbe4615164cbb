// The clause `filter`: rows of a design that break a specification are left out (TBEM, Algorithm 1).
#pragma once

#include "compiler/experiment/designs/Designs.h"

#include <cstddef>
#include <vector>

namespace tbem::driver {

/// Builds each row of a design with the clause; those that break a condition of what they build go from `run.chosen`, and the
/// array becomes that of the rows that stay, which keep their numbers. Other designs stay as they are. False after a report: no
/// row is left, or a row cannot be built for another reason.
bool filterRows(Workspace& workspace, DesignRun& run);

/// The rows that `filter` did not leave out.
std::vector<LevelIndices> rowsLeft(const DesignRun& run);
std::size_t countLeft(const DesignRun& run);

Json jsonOf(const DesignRun& run, const Filtering& filtering);

}  // namespace tbem::driver
