#include "compiler/design/choose/CompositeSearch.h"

#include <algorithm>

namespace tbem::design {

namespace {

// Where there is a composite, few states of its base are seen before it (of 350 found for random requests, 191 at most).
constexpr std::size_t kMostOfBase[] = {25, 200};  // in two rounds
constexpr std::size_t kMostAtRuns = 1000;
constexpr std::size_t kMostStates = 5000;
constexpr std::uint32_t kDeepest = 40;

}  // namespace

void CompositeSearch::addFreedoms(const Columns& columns, Slack& over) const {
  for (const Demand::Need& need : catalogue.wanted().needs)
    over.push_back(static_cast<std::int64_t>(columns.freedomsOver(need.divisor)));
}

const CompositeSearch::Options& CompositeSearch::options(std::uint32_t levels) {
  const auto [at, isNew] = known.try_emplace(levels);
  if (!isNew) return at->second;
  at->second.by = &catalogue.arrays(levels);
  for (const Candidate& by : *at->second.by) addFreedoms(by.columns, at->second.over);
  return at->second;
}

bool CompositeSearch::reach(const Variant& variant, const Slack& slack, std::uint32_t depth) {
  Columns free, open;  // what is there and not wanted as it is, and the reverse
  for (const auto& [s, count] : variant.columns) free.add(s, count - std::min(count, wanted.count(s)));
  for (const auto& [s, count] : wanted) open.add(s, count - std::min(count, variant.columns.count(s)));
  if (open.empty()) {
    found = variant;
    return true;
  }
  if (depth >= kDeepest || states >= most) return false;
  ++states;
  const auto [state, isNew] = failed.insert({free, open});
  if (!isNew) return false;
  const auto [level, count] = *(open.end() - 1);
  if (replaceFor(level, count, variant, free, slack, depth)) return true;
  if (states >= most) failed.erase(state);  // not searched to the end
  return false;
}

bool CompositeSearch::replaceFor(std::uint32_t level, std::uint64_t count, const Variant& variant, const Columns& free,
                                 const Slack& slack, std::uint32_t depth) {
  const std::vector<Demand::Need>& needs = catalogue.wanted().needs;
  std::size_t own = 0;
  while (needs[own].divisor != level) ++own;
  Slack next(slack.size());
  for (const auto& [s, available] : free) {
    if (s <= level || s % level != 0) continue;
    const Options& all = options(s);
    const std::int64_t* over = all.over.data();
    for (const Candidate& by : *all.by) {
      const std::int64_t* of = over;
      over += needs.size();
      if (of[own] == 0) continue;
      const std::uint64_t gain = std::max<std::uint64_t>(1, by.columns.count(level));
      const std::uint64_t times = std::max<std::uint64_t>(1, std::min(available, count / gain));
      bool enough = true;
      for (std::size_t i = 0; i < next.size() && enough; ++i) {
        const std::int64_t before = s % needs[i].divisor == 0 ? s - 1 : 0;
        next[i] = slack[i] - static_cast<std::int64_t>(times) * (before - of[i]);
        enough = next[i] >= 0;
      }
      if (enough && reach(variant.replaced(s, times, by), next, depth + 1)) return true;
    }
  }
  return false;
}

std::optional<Composite> CompositeSearch::at(std::uint64_t runs) {
  if (wanted.freedoms() >= runs) return std::nullopt;
  const std::vector<Candidate> bases = catalogue.roomyArrays(runs);
  for (const Candidate& base : bases) {
    if (base.columns.contains(wanted)) return Variant(base).composite();
  }
  const std::size_t end = std::min(states + kMostAtRuns, kMostStates);
  for (const std::size_t each : kMostOfBase) {
    for (const Candidate& base : bases) {
      Slack slack;
      addFreedoms(base.columns, slack);
      for (std::size_t i = 0; i < slack.size(); ++i) slack[i] -= static_cast<std::int64_t>(catalogue.wanted().needs[i].freedoms);
      most = std::min(states + each, end);
      if (reach(Variant(base), slack, 0)) return found->composite();
    }
  }
  return std::nullopt;
}

}  // namespace tbem::design
