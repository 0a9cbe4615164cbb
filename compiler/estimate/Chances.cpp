#include "compiler/estimate/Chances.h"

namespace tbem::estimate {

tl::expected<std::vector<double>, std::string> branchChances(std::span<const Branch> branches,
                                                             const GateProbabilities& probabilities) {
  std::vector<double> chances(branches.size(), 1);
  for (std::size_t b = 1; b < chances.size(); ++b) {
    const Branch& branch = branches[b];
    const auto given = probabilities.of.find(branch.path);
    if (given == probabilities.of.end() && !probabilities.others)
      return tl::unexpected("no probability for the gate `" + branch.path + "`");
    const double p = given != probabilities.of.end() ? given->second : *probabilities.others;
    chances[b] = branch.condition ? p : 1 - p;
  }
  return chances;
}

}  // namespace tbem::estimate
