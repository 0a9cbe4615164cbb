// Normal forms as terms of Z3. Internal to this folder.
#pragma once

#include "compiler/spec/prove/Solver.h"

#include <z3++.h>

#include <cstdint>
#include <string>

namespace tbem::spec {

/// The answer as one line: "none", "unknown REASON", "found SYMBOL NUM DEN ...". In a context of its own, so that no answer
/// depends on the questions before it. `taken`: how many of the steps it took.
std::string solve(const Question& question, unsigned steps, std::uint64_t& taken);

}  // namespace tbem::spec
