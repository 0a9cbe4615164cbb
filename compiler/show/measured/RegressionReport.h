// Regressions that were fitted, as text or as `regress` objects with --json.
#pragma once

#include "compiler/experiment/Regressions.h"
#include "compiler/show/Out.h"

#include <vector>

namespace tbem::driver {

void printFitted(show::Out& out, const std::vector<Fitted>& fits, bool brief);

/// Fits of one regression at several places side by side, and where they differ; `compare` objects with --json.
void printComparisons(show::Out& out, const std::vector<Comparison>& comparisons);

}  // namespace tbem::driver
