// Certified cost of a perturbation's examples: what no point of the ball around each can cost more than.
#pragma once

#include "compiler/experiment/trainings/Perturbations.h"
#include "compiler/graph/elaborate/Elaborate.h"
#include "runtime/perturb/KeptCertificates.h"
#include "runtime/train/Snapshot.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tbem::driver {

struct Certified {
  std::vector<std::string> gates;                  ///< paths, in program order
  std::vector<perturb::Certificate> certificates;  ///< by example
  std::int64_t stored = 0;                         ///< of these, how many the store had
  double most = 0;                                 ///< perturb::Victim's
  double seconds = 0;                              ///< that the others took

  /// Examples of which no point takes the path that costs most.
  std::int64_t below() const;
  double meanFlops() const, meanFound() const;
  /// Of all certificates, each once.
  std::vector<std::string> unsupported() const;
};

/// What is certified: a perturbation's network with the weights that its training left.
struct Certifying {
  const PerturbationRun& run;
  const graph::Row& network;  ///< at inference, of one example
  const train::Snapshot& weights;
  const data::Dataset& dataset;
  std::vector<double> flops;  ///< perturb::Victim::branchFlops
  int threads = 1;            ///< so many examples are bounded at once
  std::string identity;       ///< of everything that decides a bound
};

/// Hash of all that decides what is certified of an example: not how many there are.
std::string certificateIdentity(const Certifying& of, const std::string& weightsHash);

/// `outcome`: what methods found there. Certificates that the store has are taken, unless it is to be `fresh`; others are put
/// into it. `next` is asked before each example with its place and how many there are, and again while it is waited for: false
/// ends it with those that are done.
/// Failures: Environment (the store), Run (a network or example that cannot be bounded, and a point that costs more than its
/// bound, which would be a mistake of ours).
tl::expected<Certified, perturb::Failure> certify(const Certifying& of, const perturb::Outcome& outcome,
                                                  const perturb::Keeping& keeping,
                                                  const std::function<bool(std::int64_t, std::int64_t)>& next);

/// What the store, which is there, has of them. Nothing is computed. `gates`: paths, in program order. Failures as above.
tl::expected<Certified, perturb::Failure> storedCertificates(const Certifying& of, const perturb::Outcome& outcome,
                                                             const std::vector<std::string>& gates, const std::string& store);

}  // namespace tbem::driver
