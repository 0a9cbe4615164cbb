// How likely samples are to be in the branches of a lowered program.
#pragma once

#include "compiler/count/GateFlops.h"
#include "compiler/lower/program/Program.h"

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <vector>

namespace tbem::estimate {

/// By branch: of a sample that comes to its gate; 1 of the first. The gate whose probability is missing as the error.
tl::expected<std::vector<double>, std::string> branchChances(std::span<const Branch> branches,
                                                             const GateProbabilities& probabilities);

}  // namespace tbem::estimate
