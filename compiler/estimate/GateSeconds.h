// Least times of a gated network over the ways that samples can go, by the roofline of its steps.
//
// Where k of n samples are in a branch, a step of it does k/n of its arithmetic and moves k/n of the rows, but all of what it
// reads as it is, such as weights: it takes at least the larger of the two times, and nothing where k is 0.
#pragma once

#include "compiler/count/GateFlops.h"
#include "compiler/estimate/Roofline.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::estimate {

struct GateSeconds {
  /// Of the cheapest way, which is one that all samples of a branch take together: a branch with fewer of them saves at most its
  /// share of the time.
  double least = 0;
  /// No way takes more. Exact where gates decide about at most 256 samples; above that, at most about one in 256 too much.
  double most = 0;
};
/// The roofline is that of a program with gates.
GateSeconds secondsOfPaths(const Roofline& roofline);

/// In the mean, where each sample that comes to a gate meets its condition with the given probability, independently of other
/// samples and gates: a branch has a binomial number of samples. The gate whose probability is missing as the error.
tl::expected<double, std::string> expectedSeconds(const Roofline& roofline, const GateProbabilities& probabilities);

}  // namespace tbem::estimate
