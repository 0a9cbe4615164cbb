#include "compiler/design/Array.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace tbem::design {

Array blankArray(std::size_t runs, std::vector<std::uint32_t> levels, std::uint32_t strength) {
  Array array;
  array.levels = std::move(levels);
  array.runs = runs;
  array.strength = strength;
  array.cells.assign(runs * array.columns(), 0);
  return array;
}

std::string levelText(std::span<const std::uint32_t> levels) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const std::uint32_t level : levels) ++counts[level];
  std::string text;
  for (const auto& [level, count] : counts) text += fmt::format("{}{}^{}", text.empty() ? "" : " ", level, count);
  return text;
}

}  // namespace tbem::design
