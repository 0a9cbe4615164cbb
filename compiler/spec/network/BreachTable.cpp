#include "compiler/spec/network/BreachTable.h"

#include <algorithm>
#include <set>

namespace tbem::spec {

namespace {

/// Calls visit(levels) for each combination of `choices`, one list of levels a factor.
template <class Visit>
void forEachCombination(const LevelBox& choices, Visit&& visit) {
  std::vector<std::size_t> at(choices.size(), 0);
  std::vector<std::uint32_t> levels;
  for (const std::vector<std::uint32_t>& list : choices) levels.push_back(list.front());
  for (;;) {
    visit(levels);
    std::size_t f = choices.size();
    while (f > 0) {
      --f;
      if (++at[f] < choices[f].size()) {
        levels[f] = choices[f][at[f]];
        break;
      }
      at[f] = 0;
      levels[f] = choices[f].front();
      if (f == 0) return;
    }
    if (choices.empty()) return;
  }
}

}  // namespace

std::size_t BreachTable::changes(const Levels& levels) const {
  std::size_t count = 0;
  for (std::uint32_t f = 0; f < levels.size(); ++f) count += levels[f] != 0 && spec.active(f, levels) ? 1 : 0;
  return count;
}

void BreachTable::meet(Breach& breach, const Levels& levels, std::uint64_t count) const {
  const bool isNearer = breach.combinations == 0 || changes(levels) < changes(breach.nearest);
  breach.combinations += count;
  if (isNearer) breach.nearest = levels;
}

bool BreachTable::add(const Breach& breach, const LevelBox& box, const std::vector<std::uint32_t>& factors,
                      const std::vector<Levels>& failing) {
  std::uint64_t each = 1;
  LevelBox choices = box;
  for (const std::uint32_t f : factors) choices[f] = {0};
  for (const Levels& list : choices) each *= list.size();
  Breach counted;
  if (!question.allowed) {
    for (const Levels& levels : failing) meet(counted, levels, each);
  } else {
    if (each > kMaxListed || each * failing.size() > kMaxListed) return false;
    for (const Levels& start : failing) {
      for (const std::uint32_t f : factors) choices[f] = {start[f]};
      forEachCombination(choices, [&](const Levels& levels) {
        if (question.allowed(levels)) meet(counted, levels, 1);
      });
    }
    if (counted.combinations == 0) return true;
  }
  const auto [place, isNew] = places.emplace(std::pair(breach.use.begin, breach.range.begin), entries.size());
  if (isNew) entries.push_back({breach, {}});
  Entry& entry = entries[place->second];
  entry.breach.isLeast = entry.breach.isLeast || breach.isLeast;
  meet(entry.breach, counted.nearest, counted.combinations);
  entry.parts.push_back({box, factors, failing});
  return true;
}

/// Rows of the design that lie in the box and break the condition.
std::size_t BreachTable::rowsOf(const Part& part) const {
  const auto projected = [&](const Levels& levels) {
    Levels own;
    for (const std::uint32_t f : part.factors) own.push_back(levels[f]);
    return own;
  };
  std::set<Levels> failing;
  for (const Levels& levels : part.failing) failing.insert(projected(levels));
  return static_cast<std::size_t>(std::count_if(question.rows.begin(), question.rows.end(), [&](const Levels& row) {
    const bool inside = std::equal(row.begin(), row.end(), part.box.begin(), [](std::uint32_t level, const Levels& levels) {
      return std::find(levels.begin(), levels.end(), level) != levels.end();
    });
    return inside && failing.count(projected(row)) != 0;
  }));
}

/// Whether the box has not all levels that the factor can have beside it.
bool BreachTable::isNarrow(const LevelBox& box, std::size_t factor) const {
  return box[factor].size() < spec.factors[factor].values().size() || box[factor].back() >= spec.factors[factor].values().size();
}

/// Causes from all parts together, over the factors on which any of them depends.
void BreachTable::explain(Entry& entry) const {
  Breach& breach = entry.breach;
  for (const Part& part : entry.parts) breach.rows += rowsOf(part);
  std::set<std::uint32_t> named;
  for (const Part& part : entry.parts) {
    named.insert(part.factors.begin(), part.factors.end());
    for (std::uint32_t f = 0; f < part.box.size(); ++f) {
      if (isNarrow(part.box, f)) named.insert(f);
    }
  }
  Broken broken;
  std::size_t size = 1;
  for (const std::uint32_t f : named) {
    broken.factors.push_back(f);
    broken.sizes.push_back(spec.factors[f].levels.size());
    size *= spec.factors[f].levels.size();
    if (size > kMaxListed) return;
  }
  broken.at.assign(size, false);
  findExisting(spec, broken);
  for (const Part& part : entry.parts) {
    LevelBox choices;
    for (const std::uint32_t f : broken.factors) choices.push_back(part.box[f]);
    for (const Levels& levels : part.failing) {
      for (std::size_t k = 0; k < broken.factors.size(); ++k) {
        const std::uint32_t f = broken.factors[k];
        if (std::find(part.factors.begin(), part.factors.end(), f) != part.factors.end()) choices[k] = {levels[f]};
      }
      forEachCombination(choices, [&](const Levels& own) {
        std::size_t position = 0;
        for (std::size_t k = 0; k < own.size(); ++k) position = position * broken.sizes[k] + own[k];
        broken.at[position] = true;
      });
    }
  }
  breach.causes = causesOf(broken, spec, breach.allCauses);
  breach.allCauses = breach.allCauses && !breach.isLeast;
}

std::vector<Breach> BreachTable::finish() {
  std::vector<Breach> breaches;
  for (Entry& entry : entries) {
    explain(entry);
    breaches.push_back(std::move(entry.breach));
  }
  std::sort(breaches.begin(), breaches.end(), [](const Breach& a, const Breach& b) {
    return a.use.begin != b.use.begin ? a.use.begin < b.use.begin : a.range.begin < b.range.begin;
  });
  return breaches;
}

}  // namespace tbem::spec
