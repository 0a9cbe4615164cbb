#include "compiler/estimate/GateMemory.h"

#include "compiler/estimate/Chances.h"
#include "compiler/plan/Plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace tbem::estimate {

namespace {

/// A program's branches with what their own steps reach.
class Reach {
public:
  explicit Reach(const Program& p) : program(p), own(p.branches.size(), 0) {
    for (const Allocation& allocation : program.allocations) {
      if (allocation.persistent) always = std::max(always, end(allocation));
    }
    for (const Step& step : program.steps) {
      for (const BufferId buffer : program.buffersOf(step)) touch(step.branch, buffer);
    }
  }

  /// Ends of what any branch reaches, ascending.
  std::set<std::uint64_t> ends() const {
    std::set<std::uint64_t> all{always};
    for (const std::uint64_t one : own) all.insert(std::max(always, one));
    return all;
  }

  /// Where all samples go one way: of the two sides of each gate the one that reaches less.
  std::uint64_t least() const {
    std::vector<std::uint64_t> reached = own;  // by branch: with what stands below it
    for (std::size_t b = program.branches.size(); b-- > 1;) {
      // The two branches of a gate stand one behind the other: all that is below them has been counted when both are.
      if (!isFirstOfGate(b)) continue;
      std::uint64_t& parent = reached[program.branches[b].parent];
      parent = std::max(parent, std::min(reached[b], reached[otherOf(b)]));
    }
    return std::max(always, reached.front());
  }

  /// The probability that one sample stays out of all branches that reach beyond `limit`.
  double staysBelow(std::uint64_t limit, const std::vector<double>& taken) const {
    std::vector<double> below(own.size());
    for (std::size_t b = 0; b < own.size(); ++b) below[b] = own[b] <= limit ? 1 : 0;
    for (std::size_t b = program.branches.size(); b-- > 1;) {
      if (!isFirstOfGate(b)) continue;
      const std::size_t other = otherOf(b);
      const Branch& branch = program.branches[b];
      const double own = taken[b] * below[b] + taken[other] * below[other];
      // A gate may decide about several things of one sample, such as the places of an image.
      const double many = static_cast<double>(branch.samples) / static_cast<double>(program.branches[branch.parent].samples);
      below[branch.parent] *= many == 1 ? own : std::pow(own, many);
    }
    return below.front();
  }

private:
  static std::uint64_t end(const Allocation& allocation) { return alignUp(allocation.offset + allocation.bytes); }
  void touch(std::uint32_t branch, BufferId buffer) {
    own[branch] = std::max(own[branch], end(program.allocations[program[buffer].allocation]));
  }
  std::size_t otherOf(std::size_t b) const {
    for (std::size_t other = 1; other < program.branches.size(); ++other) {
      if (other != b && program.branches[other].gate == program.branches[b].gate) return other;
    }
    return b;
  }
  bool isFirstOfGate(std::size_t b) const { return b < otherOf(b); }

  const Program& program;
  std::vector<std::uint64_t> own;  ///< by branch: the end of what its steps touch
  std::uint64_t always = 0;        ///< of weights, states, inputs
};

}  // namespace

GateMemory memoryOfPaths(const Program& program) { return {Reach(program).least(), program.arena}; }

tl::expected<double, std::string> expectedMemory(const Program& program, const GateProbabilities& probabilities) {
  const auto taken = branchChances(program.branches, probabilities);
  if (!taken) return tl::unexpected(taken.error());
  const Reach reach(program);
  double expected = 0, before = 0;
  for (const std::uint64_t limit : reach.ends()) {
    const double below = std::pow(reach.staysBelow(limit, *taken), static_cast<double>(program.samples));
    expected += static_cast<double>(limit) * (below - before);
    before = below;
  }
  return expected;
}

}  // namespace tbem::estimate
