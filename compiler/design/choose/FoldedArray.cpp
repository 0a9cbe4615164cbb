#include "compiler/design/choose/FoldedArray.h"

#include "compiler/design/choose/ArrayChoice.h"

#include <algorithm>

namespace tbem::design {

std::optional<Array> foldedArray(const std::vector<std::uint32_t>& levels, std::uint32_t q, std::uint32_t strength,
                                 std::size_t maxRows) {
  std::optional<Array> array = smallestArray(std::vector<std::uint32_t>(levels.size(), q), strength, maxRows);
  if (!array) return std::nullopt;
  array->levels = levels;
  for (std::size_t r = 0; r < array->runs; ++r) {
    for (std::size_t f = 0; f < levels.size(); ++f) array->at(r, f) %= levels[f];
  }
  if (std::all_of(levels.begin(), levels.end(), [&](std::uint32_t s) { return s == q; })) return array;
  array->strength = 0;
  array->smallestPossible = 0;
  array->name += ", dummy levels";
  return array;
}

}  // namespace tbem::design
