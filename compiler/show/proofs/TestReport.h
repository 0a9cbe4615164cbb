// Tests made from a specification: as a table, as CSV, or as objects with --json.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/verify/SpecTests.h"

#include <vector>

namespace tbem::driver {

/// `results`: of each case; empty where none was tried.
/// How tests are shown.
struct TestView {
  std::uint64_t seed = 0;  ///< with which they were made
  bool csv = false;
};

void printTests(show::Out& out, const TestView& view, const TestedSpec& tested, const std::vector<CaseResult>& results);

}  // namespace tbem::driver
