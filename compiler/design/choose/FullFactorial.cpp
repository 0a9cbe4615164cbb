#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/choose/Plans.h"

namespace tbem::design {

std::optional<Array> fullFactorial(const std::vector<std::uint32_t>& levels, std::size_t maxRows) {
  std::size_t runs = 1;
  for (const std::uint32_t s : levels) {
    if (s == 0 || runs > maxRows / s) return std::nullopt;
    runs *= s;
  }
  Array array;
  array.levels = levels;
  array.runs = runs;
  array.strength = static_cast<std::uint32_t>(levels.size());
  array.cells.resize(runs * levels.size());
  for (std::size_t r = 0; r < runs; ++r) {
    std::size_t rest = r;
    for (std::size_t c = levels.size(); c-- > 0;) {
      array.at(r, c) = static_cast<std::uint32_t>(rest % levels[c]);
      rest /= levels[c];
    }
  }
  array.name = levels.empty() ? "one row" : factorialName(levels);
  array.construction = levels.empty() ? "no factor varies" : "every combination of levels";
  return array;
}

}  // namespace tbem::design
