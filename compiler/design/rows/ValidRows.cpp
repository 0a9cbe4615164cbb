#include "compiler/design/rows/ValidRows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

/// In words of memory.
constexpr std::uint64_t kLiteralCost = 4, kSearchCost = 100;

/// Factors that combinations tie together, directly or through others; kFree for a factor in none.
std::vector<std::uint32_t> connectedGroups(const Constraints& rules) {
  std::vector<std::uint32_t> parent(rules.levels.size());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t f) {
    while (parent[f] != f) f = parent[f] = parent[parent[f]];
    return f;
  };
  std::vector<bool> mentioned(rules.levels.size(), false);
  for (const Combination& one : rules.forbidden) {
    for (const Literal& literal : one) {
      mentioned[literal.factor] = true;
      parent[root(literal.factor)] = root(one.front().factor);
    }
  }
  std::vector<std::uint32_t> number(rules.levels.size(), ValidRows::kFree), groups(rules.levels.size(), ValidRows::kFree);
  std::uint32_t count = 0;
  for (std::uint32_t f = 0; f < groups.size(); ++f) {
    if (!mentioned[f]) continue;
    std::uint32_t& group = number[root(f)];
    if (group == ValidRows::kFree) group = count++;
    groups[f] = group;
  }
  return groups;
}

}  // namespace

ValidRows::ValidRows(Constraints constraints) : rules(simplified(std::move(constraints))) {
  std::size_t literals = 0;
  for (const std::uint32_t s : rules.levels) {
    offsets.push_back(literals);
    literals += s;
  }
  occurrences.resize(literals);
  for (std::uint32_t i = 0; i < rules.forbidden.size(); ++i) {
    for (const Literal& l : rules.forbidden[i]) occurrences[literal(l.factor, l.level)].push_back(i);
  }
  groupOf = connectedGroups(rules);
  for (std::uint32_t f = 0; f < groupOf.size(); ++f) {
    if (groupOf[f] == kFree) continue;
    groups.resize(std::max<std::size_t>(groups.size(), groupOf[f] + 1));
    groups[groupOf[f]].push_back(f);
  }
  value.assign(rules.levels.size(), kFree);
  left = rules.levels;
  removed.assign(literals, 0);
  // What single levels exclude holds in every search, so it is not on the trail.
  bool some = std::none_of(rules.forbidden.begin(), rules.forbidden.end(), [](const Combination& one) { return one.empty(); });
  for (const Combination& one : rules.forbidden) {
    if (one.size() != 1) continue;
    removed[literal(one[0].factor, one[0].level)] = 1;
    some = some && --left[one[0].factor] != 0;
  }
  for (std::uint32_t g = 0; g < groups.size() && some; ++g) some = solve(g);
  if (some) {
    first.emplace(rules.levels.size(), 0);
    for (std::uint32_t f = 0; f < value.size(); ++f) {
      if (value[f] != kFree) (*first)[f] = value[f];
    }
  }
  undo(0);
}

bool ValidRows::allowsChange(std::span<const std::uint32_t> row, std::span<const Literal> changes) const {
  const auto stands = [&](const Literal& l) {
    for (const Literal& change : changes) {
      if (change.factor == l.factor) return change.level == l.level;
    }
    return row[l.factor] == l.level;
  };
  for (const Literal& change : changes) {
    work += kLiteralCost * occurrences[literal(change.factor, change.level)].size();
    for (const std::uint32_t index : occurrences[literal(change.factor, change.level)]) {
      const Combination& one = rules.forbidden[index];
      if (std::all_of(one.begin(), one.end(), stands)) return false;
    }
  }
  return true;
}

bool ValidRows::assign(std::uint32_t factor, std::uint32_t level) {
  if (value[factor] != kFree) return value[factor] == level;
  if (removed[literal(factor, level)] != 0) return false;
  value[factor] = level;
  trail.push_back({factor, kFree});
  pending.push_back(factor);
  return true;
}

/// A combination of which a literal became true: false where all are, and where all but one are the last one is excluded.
bool ValidRows::visit(std::uint32_t combination) {
  work += kLiteralCost * rules.forbidden[combination].size();
  const Literal* open = nullptr;
  for (const Literal& l : rules.forbidden[combination]) {
    if (value[l.factor] == l.level) continue;
    if (value[l.factor] != kFree || removed[literal(l.factor, l.level)] != 0 || open != nullptr) return true;
    open = &l;
  }
  if (open == nullptr) return false;
  removed[literal(open->factor, open->level)] = 1;
  trail.push_back(*open);
  if (--left[open->factor] == 0) return false;
  if (left[open->factor] > 1) return true;
  std::uint32_t only = 0;
  while (removed[literal(open->factor, only)] != 0) ++only;
  return assign(open->factor, only);
}

bool ValidRows::propagate() {
  while (!pending.empty()) {
    const std::uint32_t factor = pending.back();
    pending.pop_back();
    for (const std::uint32_t combination : occurrences[literal(factor, value[factor])]) {
      if (visit(combination)) continue;
      pending.clear();
      return false;
    }
  }
  return true;
}

void ValidRows::undo(std::size_t trailSize) {
  while (trail.size() > trailSize) {
    const Literal last = trail.back();
    trail.pop_back();
    if (last.level == kFree) {
      value[last.factor] = kFree;
    } else {
      removed[literal(last.factor, last.level)] = 0;
      ++left[last.factor];
    }
  }
  pending.clear();
}

/// The levels of a factor in order of preference: the wished one, then from 0.
std::uint32_t ValidRows::preferredLevel(std::uint32_t factor, std::uint32_t position) const {
  if (wish.empty()) return position;
  return position == 0 ? wish[factor] : position <= wish[factor] ? position - 1 : position;
}

/// Tries the next level of the last decision, going back where it has none. False: no level is left anywhere.
bool ValidRows::decideNext(std::vector<Decision>& stack) {
  while (!stack.empty()) {
    Decision& last = stack.back();
    undo(last.trailSize);
    while (last.tried < rules.levels[last.factor]) {
      const std::uint32_t level = preferredLevel(last.factor, last.tried++);
      if (removed[literal(last.factor, level)] != 0) continue;
      if (++decisions > kMostDecisions) {
        exhausted = true;
        return false;
      }
      if (assign(last.factor, level) && propagate()) return true;
      undo(last.trailSize);
    }
    stack.pop_back();
  }
  return false;
}

/// Assigns all factors of a group beside what is assigned already; what it assigned stays on the trail.
bool ValidRows::solve(std::uint32_t group) {
  std::vector<Decision> stack;
  decisions = 0;
  while (true) {
    const std::uint32_t* next = nullptr;
    for (const std::uint32_t& f : groups[group]) {
      ++work;
      if (value[f] == kFree && (next == nullptr || left[f] < left[*next])) next = &f;
      if (next != nullptr && left[*next] <= 2) break;
    }
    if (next == nullptr) return true;
    stack.push_back({*next, 0, trail.size()});
    if (!decideNext(stack)) return false;
  }
}

/// Assigns these levels and all factors that are connected with them.
bool ValidRows::search(std::span<const Literal> levels) {
  work += kSearchCost + value.size();
  if (!first) return false;
  for (const Literal& l : levels) {
    if (!assign(l.factor, l.level) || !propagate()) return false;
  }
  return std::all_of(levels.begin(), levels.end(),
                     [&](const Literal& l) { return !constrained(l.factor) || solve(groupOf[l.factor]); });
}

bool ValidRows::possible(std::span<const Literal> levels) {
  if (!first) return false;
  if (allowsChange(*first, levels) || stands(levels)) return true;  // most often
  if (asked > kMostAsked) exhausted = true;
  if (exhausted) return false;
  // Rows that differ are worth most to the questions that follow.
  wish.resize(factors());
  for (std::uint32_t f = 0; f < factors(); ++f) wish[f] = random.below(rules.levels[f]);
  const std::uint64_t before = work;
  const bool good = search(levels);
  asked += work - before;
  if (good) {
    std::vector<std::uint32_t> row = *first;
    for (std::uint32_t f = 0; f < factors(); ++f) {
      if (value[f] != kFree) row[f] = value[f];
    }
    if (seen.size() < kMostSeen)
      seen.push_back(std::move(row));
    else
      seen[random.below(kMostSeen)] = std::move(row);
  }
  undo(0);
  return good;
}

/// Whether a valid row that a search has found holds these levels.
bool ValidRows::stands(std::span<const Literal> levels) const {
  work += seen.size();
  return std::any_of(seen.begin(), seen.end(), [&](const std::vector<std::uint32_t>& row) {
    return std::all_of(levels.begin(), levels.end(),
                       [&](const Literal& l) { return !constrained(l.factor) || row[l.factor] == l.level; });
  });
}

bool ValidRows::place(std::span<const Literal> levels, std::vector<std::uint32_t>& row) {
  if (allowsChange(row, levels)) {  // what the search would find
    for (const Literal& l : levels) row[l.factor] = l.level;
    return true;
  }
  wish = row;
  const bool good = search(levels);
  for (std::uint32_t f = 0; f < value.size() && good; ++f) {
    if (value[f] != kFree) row[f] = value[f];
  }
  undo(0);
  return good;
}

}  // namespace tbem::design
