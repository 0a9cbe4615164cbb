#include "compiler/sema/check/Uses.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace tbem::sema {

namespace {
auto placeOf(const Use& use) { return std::tuple(use.range.begin, use.range.end, use.declaration.begin, use.declaration.end); }
}  // namespace

Uses::Uses(std::vector<Use> found) : list(std::move(found)) {
  std::stable_sort(list.begin(), list.end(), [](const Use& a, const Use& b) { return placeOf(a) < placeOf(b); });
  // A body may be read twice: once for its gradient.
  list.erase(std::unique(list.begin(), list.end(), [](const Use& a, const Use& b) { return placeOf(a) == placeOf(b); }),
             list.end());
  for (std::uint32_t i = 0; i < list.size(); ++i) byDeclaration.push_back(i);
  std::stable_sort(byDeclaration.begin(), byDeclaration.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return list[a].declaration.begin < list[b].declaration.begin; });
}

std::span<const Use> Uses::at(Loc place) const {
  // Words do not overlap: the last that begins at or before the place is the only one that may hold it.
  const auto behind =
      std::upper_bound(list.begin(), list.end(), place, [](Loc wanted, const Use& use) { return wanted < use.range.begin; });
  if (behind == list.begin()) return {};
  const SrcRange word = std::prev(behind)->range;
  if (place >= word.end) return {};
  const auto first =
      std::lower_bound(list.begin(), behind, word.begin, [](const Use& use, Loc begin) { return use.range.begin < begin; });
  return {first, behind};
}

std::vector<SrcRange> Uses::usesOf(SrcRange declaration) const {
  std::vector<SrcRange> places;
  if (!declaration.valid()) return places;
  auto next = std::lower_bound(byDeclaration.begin(), byDeclaration.end(), declaration.begin,
                               [this](std::uint32_t i, Loc begin) { return list[i].declaration.begin < begin; });
  for (; next != byDeclaration.end() && list[*next].declaration.begin == declaration.begin; ++next) {
    if (list[*next].declaration == declaration) places.push_back(list[*next].range);
  }
  return places;
}

std::vector<SrcRange> Uses::sameName(SrcRange declaration) const {
  std::vector<SrcRange> open{declaration};
  std::set<std::pair<Loc, Loc>> seen{{declaration.begin, declaration.end}}, places;
  while (!open.empty()) {
    const SrcRange next = open.back();
    open.pop_back();
    for (const SrcRange place : usesOf(next)) {
      if (!places.emplace(place.begin, place.end).second) continue;
      for (const Use& use : at(place.begin)) {
        if (!use.declaration.valid() || !seen.emplace(use.declaration.begin, use.declaration.end).second) continue;
        open.push_back(use.declaration);
      }
    }
  }
  std::vector<SrcRange> sorted;
  for (const auto& [begin, end] : places) sorted.push_back({begin, end});
  return sorted;
}

}  // namespace tbem::sema
