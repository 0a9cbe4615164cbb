#include "compiler/design/array/Array.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tbem::design {

const Nested* nestingOf(std::span<const Nested> nested, std::uint32_t column) {
  const auto found = std::find_if(nested.begin(), nested.end(), [&](const Nested& one) { return one.column == column; });
  return found == nested.end() ? nullptr : &*found;
}

bool isAbsent(const Array& array, std::size_t row, std::uint32_t column) {
  return array.at(row, column) + 1 == array.levels[column] && nestingOf(array.nested, column) != nullptr;
}

std::uint32_t valuesOf(const Array& array, std::uint32_t column) {
  return array.levels[column] - (nestingOf(array.nested, column) != nullptr ? 1 : 0);
}

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
