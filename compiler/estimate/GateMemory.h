// Memory of a gated network over the ways that samples can go: how far into its arena a step reaches.
//
// The plan has room for every path (a step's buffers hold the whole batch), so the most is the plan's arena, which no input
// passes. A step touches the buffers of those branches that have samples: what it reaches is the largest end of one of them. That
// grows with every branch that has a sample, so the least is that of a batch whose samples all go one way.
#pragma once

#include "compiler/count/GateFlops.h"
#include "compiler/lower/program/Program.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace tbem::estimate {

struct GateMemory {
  std::uint64_t least = 0;  ///< bytes; the arena of the cheapest path
  std::uint64_t most = 0;   ///< the plan's arena
};
/// The program has gates.
GateMemory memoryOfPaths(const Program& program);

/// Bytes that a step reaches on average, where each sample that comes to a gate meets its condition with the given probability,
/// independently of other samples and gates. Exact: with F(x) the probability that nothing above x is touched, which is that of
/// one sample to stay out of every branch that does, to the power of the batch, it is the sum of x times the increase of F there.
/// The gate whose probability is missing as the error.
tl::expected<double, std::string> expectedMemory(const Program& program, const GateProbabilities& probabilities);

}  // namespace tbem::estimate
