// Tests made from a specification: as a table, as CSV, or as objects with --json.
#pragma once

#include "compiler/driver/Options.h"
#include "compiler/show/Out.h"
#include "compiler/verify/SpecTests.h"

#include <vector>

namespace tbem::driver {

/// `results`: of each case; empty where none was tried.
void printTests(show::Out& out, const Options& options, const TestedSpec& tested, const std::vector<CaseResult>& results);

}  // namespace tbem::driver
