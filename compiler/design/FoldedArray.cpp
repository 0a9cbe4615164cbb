#include "compiler/design/FoldedArray.h"

#include "compiler/design/ArrayChoice.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tbem::design {

std::optional<Array> foldedArray(const std::vector<std::uint32_t>& levels, std::uint32_t q, std::uint32_t strength,
                                 std::size_t maxRows) {
  Options options;
  options.maxRows = maxRows;
  Choice choice = chooseArray(std::vector<std::uint32_t>(levels.size(), q), strength, options);
  auto* array = std::get_if<Array>(&choice);
  if (array == nullptr) return std::nullopt;
  array->levels = levels;
  for (std::size_t r = 0; r < array->runs; ++r) {
    for (std::size_t f = 0; f < levels.size(); ++f) array->at(r, f) %= levels[f];
  }
  if (std::all_of(levels.begin(), levels.end(), [&](std::uint32_t s) { return s == q; })) return std::move(*array);
  array->strength = 0;
  array->smallestPossible = 0;
  array->name += ", dummy levels";
  return std::move(*array);
}

}  // namespace tbem::design
