// Plots of what was measured, against the factors and against what regressions say.
#pragma once

#include "compiler/experiment/Regressions.h"
#include "compiler/show/Out.h"

#include <vector>

namespace tbem::driver {

/// Writes the plots into the output folder: measured against predicted for each regression, memory by factor for each measured
/// design. False, after saying why, where a file cannot be written. No folder (-e without --out): nothing.
bool writePlots(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                const std::vector<Fitted>& fits, const StoredRows& stored, const std::string& folder);

}  // namespace tbem::driver
