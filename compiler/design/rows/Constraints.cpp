#include "compiler/design/rows/Constraints.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tbem::design {

namespace {

Combination without(const Combination& whole, std::size_t position) {
  Combination rest = whole;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(position));
  return rest;
}

/// Whether every level in the place of `whole[position]` gives a forbidden combination.
bool forbidsAllLevels(const std::set<Combination>& forbidden, const Combination& whole, std::size_t position,
                      std::uint32_t levels) {
  Combination other = whole;
  for (std::uint32_t level = 0; level < levels; ++level) {
    other[position].level = level;
    if (!forbidden.contains(other)) return false;
  }
  return true;
}

bool holdsAnother(const std::vector<std::vector<const Combination*>>& byFirst, const std::vector<std::size_t>& offsets,
                  const Combination& whole) {
  for (const Literal& first : whole) {
    for (const Combination* part : byFirst[offsets[first.factor] + first.level]) {
      if (part->size() < whole.size() && std::includes(whole.begin(), whole.end(), part->begin(), part->end())) return true;
    }
  }
  return false;
}

}  // namespace

bool Constraints::allows(std::span<const std::uint32_t> row) const {
  return std::none_of(forbidden.begin(), forbidden.end(), [&](const Combination& combination) {
    return std::all_of(combination.begin(), combination.end(), [&](const Literal& l) { return row[l.factor] == l.level; });
  });
}

Constraints simplified(Constraints constraints) {
  std::set<Combination> all(constraints.forbidden.begin(), constraints.forbidden.end());
  std::vector<Combination> todo(all.begin(), all.end());
  while (!todo.empty()) {
    const Combination whole = std::move(todo.back());
    todo.pop_back();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      Combination rest = without(whole, i);
      if (all.contains(rest) || !forbidsAllLevels(all, whole, i, constraints.levels[whole[i].factor])) continue;
      all.insert(rest);
      todo.push_back(std::move(rest));
    }
  }
  if (!all.empty() && all.begin()->empty()) {
    constraints.forbidden = {Combination{}};
    return constraints;
  }
  std::vector<std::size_t> offsets;
  std::size_t literals = 0;
  for (const std::uint32_t s : constraints.levels) {
    offsets.push_back(literals);
    literals += s;
  }
  std::vector<std::vector<const Combination*>> byFirst(literals);
  for (const Combination& one : all) byFirst[offsets[one.front().factor] + one.front().level].push_back(&one);
  constraints.forbidden.clear();
  for (const Combination& one : all) {
    if (!holdsAnother(byFirst, offsets, one)) constraints.forbidden.push_back(one);
  }
  return constraints;
}

}  // namespace tbem::design
