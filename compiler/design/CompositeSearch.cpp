#include "compiler/design/CompositeSearch.h"

#include <algorithm>

namespace tbem::design {

namespace {

// Where there is a composite, few states of its base are seen before it (of 350 found for random requests, 191 at most).
constexpr std::size_t kMostOfBase[] = {25, 200};  // in two rounds
constexpr std::size_t kMostAtRuns = 1000;
constexpr std::size_t kMostStates = 5000;
constexpr std::uint32_t kDeepest = 40;

}  // namespace

CompositeSearch::Slack CompositeSearch::freedomsOf(const Columns& columns) const {
  Slack over;
  for (const Demand::Need& need : catalogue.wanted().needs)
    over.push_back(static_cast<std::int64_t>(columns.freedomsOver(need.divisor)));
  return over;
}

const std::vector<CompositeSearch::Option>& CompositeSearch::options(std::uint32_t levels) {
  const auto at = known.find(levels);
  if (at != known.end()) return at->second;
  std::vector<Option> result;
  for (const Candidate& by : catalogue.arrays(levels)) result.push_back({&by, freedomsOf(by.columns)});
  return known[levels] = std::move(result);
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
  const auto own = static_cast<std::size_t>(std::find_if(catalogue.wanted().needs.begin(), catalogue.wanted().needs.end(),
                                                         [&](const auto& need) { return need.divisor == level; }) -
                                            catalogue.wanted().needs.begin());
  Slack next(slack.size());
  for (const auto& [s, available] : free) {
    if (s <= level || s % level != 0) continue;
    for (const Option& option : options(s)) {
      if (option.over[own] == 0) continue;
      const std::uint64_t gain = std::max<std::uint64_t>(1, option.by->columns.count(level));
      const std::uint64_t times = std::max<std::uint64_t>(1, std::min(available, count / gain));
      bool enough = true;
      for (std::size_t i = 0; i < next.size(); ++i) {
        const std::int64_t before = s % catalogue.wanted().needs[i].divisor == 0 ? s - 1 : 0;
        next[i] = slack[i] - static_cast<std::int64_t>(times) * (before - option.over[i]);
        enough = enough && next[i] >= 0;
      }
      if (enough && reach(variant.replaced(s, times, *option.by), next, depth + 1)) return true;
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
      Slack slack = freedomsOf(base.columns);
      for (std::size_t i = 0; i < slack.size(); ++i) slack[i] -= static_cast<std::int64_t>(catalogue.wanted().needs[i].freedoms);
      most = std::min(states + each, end);
      if (reach(Variant(base), slack, 0)) return found->composite();
    }
  }
  return std::nullopt;
}

}  // namespace tbem::design
