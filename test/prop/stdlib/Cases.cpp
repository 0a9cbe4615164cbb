#include "test/prop/stdlib/Case.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::test {

double Dice::normal() {  // Box & Muller 1958
  const double u = 1 - uniform(), v = uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

std::string listText(const Dims& dims) {
  std::string text;
  for (const std::int64_t d : dims) text += fmt::format("{}{}", text.empty() ? "" : ", ", d);
  return "[" + text + "]";
}

std::int64_t product(const Dims& dims) {
  std::int64_t total = 1;
  for (const std::int64_t d : dims) total *= d;
  return total;
}

Dims anyDims(Dice& dice, std::size_t most) {
  static const std::vector<Dims> kShapes = {{1},      {7},      {24},      {3, 8},       {24, 1},      {2, 3, 4},
                                            {35},     {5, 7},   {7, 1, 5}, {2, 3, 4, 1}, {1, 3, 2, 4}, {48},
                                            {6, 8},   {3, 16},  {2, 6, 4}, {1, 3, 4, 4}, {2, 3, 2, 4}, {210},
                                            {10, 21}, {2, 105}, {7, 5, 6}, {2, 3, 5, 7}, {1, 1, 7},    {15, 14}};
  while (true) {
    const Dims& dims = kShapes[static_cast<std::size_t>(dice.integer(0, static_cast<std::int64_t>(kShapes.size()) - 1))];
    if (dims.size() <= most) return dims;
  }
}

std::string numberText(Dice& dice, double low, double high) { return fmt::format("{:.3f}", low + (high - low) * dice.uniform()); }

const std::map<std::string, Generator>& generators() {
  static const std::map<std::string, Generator> table = [] {
    std::map<std::string, Generator> made;
    addElementwise(made);
    addLayers(made);
    addShapes(made);
    addLosses(made);
    addIndicesAndLists(made);
    return made;
  }();
  return table;
}

}  // namespace tbem::test
