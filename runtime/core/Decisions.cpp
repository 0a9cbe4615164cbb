#include "runtime/core/Decisions.h"

#include <algorithm>

namespace tbem::runtime {

namespace {
Failure overwritten() { return {TBEM_INVALID, "a list of samples has been overwritten"}; }
}  // namespace

std::int64_t Decision::reached() const {
  return std::count_if(of.begin(), of.end(), [](std::int8_t d) { return d >= 0; });
}
std::int64_t Decision::taken() const { return std::count(of.begin(), of.end(), std::int8_t{1}); }

std::vector<GateCount> countsOf(const std::vector<Decision>& decisions) {
  std::vector<GateCount> counts;
  counts.reserve(decisions.size());
  for (const Decision& decision : decisions)
    counts.push_back({decision.gate, decision.exits, decision.reached(), decision.taken()});
  return counts;
}

tl::expected<std::vector<std::int64_t>, Failure> branchSizes(const Instance& instance) {
  const Executable& e = instance.executable();
  std::vector<std::int64_t> sizes;
  for (const BranchDesc& branch : e.branches) {
    if (branch.gate.empty()) {
      sizes.push_back(e.samples);
      continue;
    }
    const auto list = instance.read(branch.rows);
    if (!list) return tl::make_unexpected(list.error());
    sizes.push_back(list->integers().front());
    if (sizes.back() < 0 || sizes.back() > branch.samples) return tl::make_unexpected(overwritten());
  }
  return sizes;
}

tl::expected<std::vector<Decision>, Failure> decisions(const Instance& instance) {
  const Executable& e = instance.executable();
  const auto sizes = branchSizes(instance);
  if (!sizes) return tl::make_unexpected(sizes.error());
  std::vector<Decision> all;
  for (std::size_t b = 0; b < e.branches.size(); ++b) {
    const BranchDesc& branch = e.branches[b];
    if (branch.gate.empty()) continue;
    auto at = std::find_if(all.begin(), all.end(), [&branch](const Decision& d) { return d.gate == branch.gate; });
    if (at == all.end()) {
      all.push_back({branch.gate, branch.exits, std::vector<std::int8_t>(static_cast<std::size_t>(branch.samples), -1)});
      at = all.end() - 1;
    }
    const auto list = instance.read(branch.origin);
    if (!list) return tl::make_unexpected(list.error());
    const std::vector<std::int64_t> numbers = list->integers();
    // What lies behind is left from other steps, and all of it where the gate was not reached.
    for (std::int64_t i = 1; i <= (*sizes)[b]; ++i) {
      const std::int64_t sample = numbers[static_cast<std::size_t>(i)];
      if (sample < 0 || sample >= branch.samples) return tl::make_unexpected(overwritten());
      at->of[static_cast<std::size_t>(sample)] = branch.condition ? 1 : 0;
    }
  }
  return all;
}

}  // namespace tbem::runtime
