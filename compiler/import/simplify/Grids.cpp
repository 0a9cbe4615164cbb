// Tables of whole numbers that grow by one step along each axis of a grid, as indices of relative positions do.
#include "compiler/import/simplify/Simplify.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tbem::imports {

namespace {

constexpr std::size_t kFewest = 32;  ///< numbers that a program shows as they are
constexpr std::size_t kMostAxes = 8;

/// How many blocks of `length` numbers, the first of them at the front, are each the one before and one step more.
std::size_t blocksOf(std::span<const double> numbers, std::size_t length, double step) {
  std::size_t at = length;
  while (at < numbers.size() && numbers[at] == numbers[at - length] + step) ++at;
  return at / length;
}

/// From the narrowest axis to the widest, each as long as it can be; empty: the numbers are no such grid.
std::vector<GridAxis> axesOf(std::span<const double> numbers) {
  std::vector<GridAxis> axes;
  for (std::size_t length = 1; length < numbers.size();) {
    const double step = numbers[length] - numbers[0];
    std::size_t blocks = blocksOf(numbers, length, step);
    while (blocks > 1 && numbers.size() % (length * blocks) != 0) --blocks;
    if (blocks < 2 || axes.size() == kMostAxes) return {};
    axes.push_back({static_cast<std::int64_t>(blocks), static_cast<std::int64_t>(step)});
    length *= blocks;
  }
  std::ranges::reverse(axes);
  return axes;
}

}  // namespace

void nameGrids(Exported& exported) {
  for (Value& value : exported.values) {
    const bool isWhole = value.facts.type == "int64" || value.facts.type == "int32";
    if (value.kind != Value::Kind::Constant || !isWhole || value.elements.size() < kFewest) continue;
    std::vector<GridAxis> axes = axesOf(value.elements);
    if (axes.empty()) continue;
    value.pattern.kind = Pattern::Kind::Grid;
    value.pattern.start = value.elements.front();
    value.pattern.grid = std::move(axes);
    value.elements.clear();
  }
}

}  // namespace tbem::imports
