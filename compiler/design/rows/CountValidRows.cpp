// The number of valid rows, by a decision diagram that is never stored: one layer a factor.
#include "compiler/design/rows/ValidRows.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tbem::design {

namespace {

constexpr std::size_t kMostStates = 200'000;

/// Factors of the combinations in an order that keeps few combinations open: each time the factor that opens least.
std::vector<std::uint32_t> countingOrder(const Constraints& rules) {
  std::vector<std::vector<std::uint32_t>> scopes(rules.levels.size());
  for (std::uint32_t i = 0; i < rules.forbidden.size(); ++i) {
    for (const Literal& l : rules.forbidden[i]) scopes[l.factor].push_back(i);
  }
  std::set<std::uint32_t> todo;
  for (std::uint32_t f = 0; f < scopes.size(); ++f) {
    if (!scopes[f].empty()) todo.insert(f);
  }
  std::vector<bool> begun(rules.forbidden.size(), false);
  std::vector<std::uint32_t> order;
  while (!todo.empty()) {
    const auto score = [&](std::uint32_t f) {
      const auto open = std::count_if(scopes[f].begin(), scopes[f].end(), [&](std::uint32_t i) { return begun[i]; });
      return std::pair(static_cast<std::ptrdiff_t>(scopes[f].size()) - 2 * open, f);
    };
    const std::uint32_t next =
        *std::min_element(todo.begin(), todo.end(), [&](std::uint32_t a, std::uint32_t b) { return score(a) < score(b); });
    for (const std::uint32_t i : scopes[next]) begun[i] = true;
    order.push_back(next);
    todo.erase(next);
  }
  return order;
}

/// What is left of a combination: its literals from one factor of the order on. Equal rests are one, whatever stood before them.
struct Rest {
  std::uint32_t position = 0;  ///< of its first literal in the order
  std::uint32_t level = 0;
  std::uint32_t next = 0;  ///< the rest behind that literal; kComplete: none
  friend auto operator<=>(const Rest&, const Rest&) = default;
};
constexpr std::uint32_t kComplete = UINT32_MAX;

/// Rests that rows may still complete, ascending: what tells apart the layers' nodes.
using Alive = std::vector<std::uint32_t>;
using Layer = std::map<Alive, std::uint64_t>;

struct Rests {
  std::vector<Rest> all;
  std::vector<Alive> opening;  ///< combinations as rests, by position of their first literal

  Rests(const Constraints& rules, const std::vector<std::uint32_t>& order) : opening(order.size()) {
    std::vector<std::uint32_t> position(rules.levels.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    std::map<Rest, std::uint32_t> numbers;
    for (Combination one : rules.forbidden) {
      std::sort(one.begin(), one.end(),
                [&](const Literal& a, const Literal& b) { return position[a.factor] > position[b.factor]; });
      std::uint32_t rest = kComplete;
      for (const Literal& l : one) {
        const Rest longer{position[l.factor], l.level, rest};
        const auto [at, fresh] = numbers.emplace(longer, static_cast<std::uint32_t>(all.size()));
        if (fresh) all.push_back(longer);
        rest = at->second;
      }
      opening[all[rest].position].push_back(rest);
    }
  }

  /// What is alive when the factor at `position` takes this level; nothing where a combination is complete.
  std::optional<Alive> after(const Alive& before, std::uint32_t position, std::uint32_t level) const {
    Alive alive;
    for (const Alive* list : {&before, &opening[position]}) {
      for (const std::uint32_t rest : *list) {
        if (all[rest].position != position) {
          alive.push_back(rest);
        } else if (all[rest].level == level) {
          if (all[rest].next == kComplete) return std::nullopt;
          alive.push_back(all[rest].next);
        }
      }
    }
    std::sort(alive.begin(), alive.end());
    alive.erase(std::unique(alive.begin(), alive.end()), alive.end());
    return alive;
  }
};

}  // namespace

std::optional<std::uint64_t> countValidRows(const Constraints& constraints) {
  const Constraints rules = simplified(constraints);
  if (!rules.empty() && rules.forbidden.front().empty()) return 0;
  const std::vector<std::uint32_t> order = countingOrder(rules);
  const Rests rests(rules, order);
  Layer layer{{{}, 1}};
  std::vector<bool> counted(rules.levels.size(), false);
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    counted[order[position]] = true;
    Layer next;
    for (const auto& [alive, count] : layer) {
      for (std::uint32_t level = 0; level < rules.levels[order[position]]; ++level) {
        const std::optional<Alive> state = rests.after(alive, position, level);
        if (!state) continue;
        std::uint64_t& sum = next[*state];
        if (__builtin_add_overflow(sum, count, &sum)) return std::nullopt;
      }
    }
    if (next.size() > kMostStates) return std::nullopt;
    layer = std::move(next);
  }
  std::uint64_t total = 0;
  for (const auto& [alive, count] : layer) {
    if (__builtin_add_overflow(total, count, &total)) return std::nullopt;
  }
  for (std::size_t f = 0; f < counted.size(); ++f) {
    if (!counted[f] && __builtin_mul_overflow(total, std::uint64_t{rules.levels[f]}, &total)) return std::nullopt;
  }
  return total;
}

}  // namespace tbem::design
