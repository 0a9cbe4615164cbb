// Certified cost of a perturbation's examples: what no point of the ball around each can cost more than.
#pragma once

#include "compiler/experiment/trainings/Perturbations.h"
#include "compiler/graph/elaborate/Elaborate.h"
#include "runtime/train/Snapshot.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tbem::driver {

struct Certificate {
  std::int64_t example = 0;
  double flops = 0, least = 0;       ///< no point of the ball costs more, nor less
  std::vector<std::int8_t> decided;  ///< by gate, as certify::Bound::decided
  double found = 0;  ///< the most that a method's point of this example costs, or the example itself; 0: not known
};

struct Certified {
  std::vector<std::string> gates;         ///< paths, in program order
  std::vector<Certificate> certificates;  ///< by example
  std::vector<std::string> unsupported;   ///< operators without bounds that some gate depends on
  double most = 0;                        ///< perturb::Victim's
  double seconds = 0;

  /// Examples of which no point takes the path that costs most.
  std::int64_t below() const;
  double meanFlops() const, meanFound() const;
};

/// `network`: at inference, of one example. `outcome`: what methods found there. `next` is asked before each example with its
/// place and how many there are: false ends it with those that are done. Errors, in words: a network or example that cannot be
/// bounded, and a point that costs more than its bound, which would be a mistake of ours.
tl::expected<Certified, std::string> certify(const PerturbationRun& run, const graph::Row& network,
                                             const train::Snapshot& weights, const data::Dataset& dataset,
                                             const perturb::Outcome& outcome,
                                             const std::function<bool(std::int64_t, std::int64_t)>& next);

}  // namespace tbem::driver
