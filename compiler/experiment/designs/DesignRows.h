// The rows of a design: an orthogonal array, all combinations, or a covering array, as its constraints allow.
#pragma once

#include "compiler/experiment/designs/DesignConstraints.h"
#include "compiler/experiment/designs/Designs.h"

#include <cstddef>
#include <functional>
#include <string>

namespace tbem::driver {

/// How long a search for rows takes where no `within` says.
constexpr double kSearchSeconds = 1;
/// Shows the search for a covering array (CoveringOptions::progress).
std::function<void(std::size_t rows, double share)> showRows(const std::string& design, Events& events);

/// Fills `run.array` and `run.rows`. False after saying why there are none.
bool makeRows(Workspace& workspace, DesignRun& run, const DesignConstraints& constraints, Events& events);

}  // namespace tbem::driver
