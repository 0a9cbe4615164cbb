// An orthogonal array whose rows break a `where`: what takes its place, and what is said of that.
#pragma once

#include "compiler/design/cover/Repair.h"
#include "compiler/design/model/Basis.h"
#include "compiler/experiment/designs/Designs.h"

#include <string>

namespace tbem::driver {

/// The model that the program's `regress` declarations of this design name together; without one, the main effects of all
/// factors. Mistakes in a regression are reported where it is read; here they leave it out.
design::Basis modelOf(const Workspace& workspace, const DesignRun& run);

/// Where rows of `run.array` break `run.constraints`: puts valid rows in their place and says what it cost. False after saying
/// why the model that the rows are for cannot be estimated from valid ones.
bool repairRows(Workspace& workspace, DesignRun& run, Events& events);

/// "14 of 16 rows stand with other labels, 2 are exchanged".
std::string repairText(const design::Repaired& repaired);
/// "rank 11 of 11, D-efficiency 0.983 (98 % of the array's), A-efficiency 0.95, 152 of the 160 pairs ...".
std::string repairQuality(const design::Repaired& repaired);

}  // namespace tbem::driver
