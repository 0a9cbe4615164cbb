// Normal forms as terms of Z3. Internal to this folder.
#pragma once

#include "compiler/spec/Solver.h"

#include <z3++.h>

#include <string>

namespace tbem::spec {

/// The answer as one line: "none", "unknown REASON", "found SYMBOL NUM DEN ...". In a context of its own, so that no answer
/// depends on the questions before it.
std::string solve(const Question& question, unsigned steps);

}  // namespace tbem::spec
