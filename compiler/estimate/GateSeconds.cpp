#include "compiler/estimate/GateSeconds.h"

#include "compiler/estimate/Chances.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace tbem::estimate {

namespace {

constexpr std::int64_t kMostCells = 256;

/// A roofline's steps by branch, and the gates below each.
class Paths {
public:
  explicit Paths(const Roofline& roofline) : roofline(roofline), steps(branches().size()), gates(branches().size()) {
    for (const StepCost& step : roofline.steps) steps[step.branch].push_back(&step);
    for (std::uint32_t b = 1; b < branches().size(); ++b) {
      for (std::uint32_t other = b + 1; other < branches().size(); ++other) {
        if (branches()[other].gate == branches()[b].gate) gates[branches()[b].parent].emplace_back(b, other);
      }
    }
  }

  /// Of the branch's own steps, where this share of its samples is in it.
  double own(std::size_t branch, double share) const {
    double sum = 0;
    for (const StepCost* step : steps[branch]) sum += step->secondsOf(share);
    return sum;
  }

  /// All samples that are in the branch go one way.
  double least(std::uint32_t branch) const {
    double sum = own(branch, 1);
    for (const auto& [a, b] : gates[branch]) sum += std::min(least(a), least(b));
    return sum;
  }

  double most() const {
    double sum = own(graph::kAllSamples, 1);
    for (const auto& [a, b] : gates[graph::kAllSamples]) {
      const std::int64_t cells = cellsOf(a);
      sum += split(most(a, cells), most(b, cells), cells, isExact(a));
    }
    return sum;
  }

private:
  const std::vector<Branch>& branches() const { return roofline.branches; }
  std::int64_t cellsOf(std::uint32_t branch) const { return std::min(branches()[branch].samples, kMostCells); }
  bool isExact(std::uint32_t branch) const { return branches()[branch].samples <= kMostCells; }

  /// The most that the two branches of a gate take of samples in `count` cells. Where a cell has several samples, those of a cell
  /// that is split count in both branches.
  static double split(const std::vector<double>& a, const std::vector<double>& b, std::int64_t count, bool exact) {
    const auto at = [](const std::vector<double>& costs, std::int64_t cell) { return costs[static_cast<std::size_t>(cell)]; };
    double most = at(b, count);
    for (std::int64_t cell = 1; cell <= count; ++cell) most = std::max(most, at(a, cell) + at(b, count - cell + (exact ? 0 : 1)));
    return most;
  }

  /// By number of cells, from none to all: the most that samples in them take in the branch and below it.
  std::vector<double> most(std::uint32_t branch, std::int64_t cells) const {
    std::vector<double> costs(static_cast<std::size_t>(cells) + 1, 0);
    for (std::int64_t k = 1; k <= cells; ++k)
      costs[static_cast<std::size_t>(k)] = own(branch, static_cast<double>(k) / static_cast<double>(cells));
    for (const auto& [a, b] : gates[branch]) {
      const std::vector<double> ofA = most(a, cells), ofB = most(b, cells);
      for (std::int64_t k = 1; k <= cells; ++k) costs[static_cast<std::size_t>(k)] += split(ofA, ofB, k, isExact(a));
    }
    return costs;
  }

  const Roofline& roofline;
  std::vector<std::vector<const StepCost*>> steps;                          ///< by branch
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> gates;  ///< by branch: the two branches of each gate in it
};

/// Calls f(k, how likely k of n samples are there) for all k that could matter.
template <class F>
void forEachNumber(std::int64_t n, double chance, F&& f) {
  if (chance <= 0) return;
  if (chance >= 1) return f(n, 1.0);
  const double mean = static_cast<double>(n) * chance, width = 10 * std::sqrt(mean * (1 - chance)) + 20;
  const auto low = std::max<std::int64_t>(1, static_cast<std::int64_t>(mean - width));
  const auto high = std::min(n, static_cast<std::int64_t>(std::ceil(mean + width)));
  const auto logFactorial = [](std::int64_t number) { return std::lgamma(static_cast<double>(number) + 1); };
  for (std::int64_t k = low; k <= high; ++k) {
    const double choices = logFactorial(n) - logFactorial(k) - logFactorial(n - k);
    f(k, std::exp(choices + static_cast<double>(k) * std::log(chance) + static_cast<double>(n - k) * std::log1p(-chance)));
  }
}

}  // namespace

GateSeconds secondsOfPaths(const Roofline& roofline) {
  const Paths paths(roofline);
  return {paths.least(graph::kAllSamples), paths.most()};
}

tl::expected<double, std::string> expectedSeconds(const Roofline& roofline, const GateProbabilities& probabilities) {
  auto chances = branchChances(roofline.branches, probabilities);
  if (!chances) return tl::unexpected(std::move(chances.error()));
  const Paths paths(roofline);
  double expected = paths.own(graph::kAllSamples, 1);
  for (std::size_t b = 1; b < roofline.branches.size(); ++b) {
    const Branch& branch = roofline.branches[b];
    (*chances)[b] *= (*chances)[branch.parent];
    forEachNumber(branch.samples, (*chances)[b], [&](std::int64_t k, double chance) {
      expected += chance * paths.own(b, static_cast<double>(k) / static_cast<double>(branch.samples));
    });
  }
  return expected;
}

}  // namespace tbem::estimate
