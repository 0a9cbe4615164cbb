#include "compiler/spec/network/NestedLevels.h"

#include <algorithm>
#include <utility>

namespace tbem::spec {

namespace {

bool existsUnder(const graph::FactorSpec& factor, std::uint32_t level) {
  return std::binary_search(factor.parentLevels.begin(), factor.parentLevels.end(), level);
}

/// Nested factors, each behind what it is nested in.
std::vector<std::uint32_t> nestedInOrder(const graph::ExperimentSpec& spec) {
  std::vector<std::uint32_t> order;
  std::vector<bool> done;
  for (const graph::FactorSpec& factor : spec.factors) done.push_back(!factor.parent);
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t f = 0; f < spec.factors.size(); ++f) {
      if (done[f] || !done[*spec.factors[f].parent]) continue;
      done[f] = true;
      again = true;
      order.push_back(f);
    }
  }
  return order;
}

}  // namespace

std::deque<LevelBox> branchesOf(const graph::ExperimentSpec& spec, LevelBox whole, std::size_t most) {
  std::deque<LevelBox> branches{std::move(whole)};
  for (const std::uint32_t f : nestedInOrder(spec)) {
    const graph::FactorSpec& factor = spec.factors[f];
    std::deque<LevelBox> next;
    for (const LevelBox& box : branches) {
      LevelBox with = box, without = box;
      std::erase_if(with[*factor.parent], [&](std::uint32_t level) { return !existsUnder(factor, level); });
      std::erase_if(without[*factor.parent], [&](std::uint32_t level) { return existsUnder(factor, level); });
      const std::uint32_t absence = with[f].back();
      with[f].pop_back();
      without[f] = {absence};
      if (!with[*factor.parent].empty()) next.push_back(std::move(with));
      if (!without[*factor.parent].empty()) next.push_back(std::move(without));
    }
    branches = std::move(next);
    if (branches.size() > most) return {};
  }
  return branches;
}

void findExisting(const graph::ExperimentSpec& spec, Broken& broken) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // nested factor and parent, as positions
  for (std::size_t k = 0; k < broken.factors.size(); ++k) {
    const graph::FactorSpec& factor = spec.factors[broken.factors[k]];
    const auto parent =
        factor.parent ? std::find(broken.factors.begin(), broken.factors.end(), *factor.parent) : broken.factors.end();
    if (parent != broken.factors.end()) pairs.emplace_back(k, parent - broken.factors.begin());
  }
  if (pairs.empty()) return;
  broken.exists.assign(broken.at.size(), true);
  std::vector<std::uint32_t> levels(broken.factors.size());
  for (std::size_t position = 0; position < broken.at.size(); ++position) {
    std::size_t rest = position;
    for (std::size_t k = levels.size(); k-- > 0; rest /= broken.sizes[k])
      levels[k] = static_cast<std::uint32_t>(rest % broken.sizes[k]);
    for (const auto& [child, parent] : pairs) {
      const graph::FactorSpec& factor = spec.factors[broken.factors[child]];
      if (existsUnder(factor, levels[parent]) == factor.levels[levels[child]].absent) broken.exists[position] = false;
    }
  }
}

}  // namespace tbem::spec
