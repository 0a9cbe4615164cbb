// One method on one batch: it moves the points step by step, and those that cost most are kept. Internal to this folder.
#pragma once

#include "runtime/perturb/Examples.h"
#include "runtime/perturb/Mover.h"
#include "runtime/perturb/Network.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tbem::perturb {

/// A point that counts, and what the network did with it.
struct Candidate {
  Answer answer;
  std::vector<float> input;
};

class Search {
public:
  /// All must outlive it. The instance is one of Method::mover, with its weights.
  Search(const Plan& plan, const Method& method, Network& network, runtime::Instance& mover)
      : plan(plan), method(method), network(network), mover(method, mover) {}

  /// By place, without fillers. `clean`: what the network did with the examples. `next` is asked before each step: false ends it,
  /// with nothing. Errors: a point where none may be.
  Result<std::optional<std::vector<Candidate>>> run(const Batch& batch, const std::vector<Answer>& clean,
                                                    const std::function<bool(std::int64_t step)>& next);

private:
  bool looksAfter(std::int64_t step) const;
  /// Takes the points as they are now where they are better than the best so far.
  Result<void> look(const Batch& batch, const std::vector<Answer>& clean, std::int64_t step,
                    std::vector<std::optional<Candidate>>& best);

  const Plan& plan;
  const Method& method;
  Network& network;
  Mover mover;
};

}  // namespace tbem::perturb
