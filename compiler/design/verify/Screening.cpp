#include "compiler/design/verify/Screening.h"

#include "compiler/design/verify/Verify.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tbem::design {

namespace {

struct Cell {
  double sum = 0;
  std::size_t count = 0;
  double mean() const { return sum / static_cast<double>(count); }
};
using Cells = std::map<std::vector<std::uint32_t>, Cell>;

/// The centred response gathered by the levels of some columns.
Cells gather(const Array& array, const std::vector<double>& centred, const std::vector<std::uint32_t>& columns) {
  Cells cells;
  for (std::size_t r = 0; r < array.runs; ++r) {
    std::vector<std::uint32_t> key;
    for (const std::uint32_t c : columns) key.push_back(array.at(r, c));
    Cell& cell = cells[key];
    cell.sum += centred[r];
    ++cell.count;
  }
  return cells;
}

/// Sum over rows of the squared mean of the row's cell, less `about`.
double between(const Cells& cells, double about = 0) {
  double squares = 0;
  for (const auto& [key, cell] : cells)
    squares += (cell.mean() - about) * (cell.mean() - about) * static_cast<double>(cell.count);
  return squares;
}

/// The array with the levels that stand in its rows alone: a factor that these rows leave at one level is no part of their
/// balance.
Array occurring(Array array) {
  if (!array.nested.empty()) return array;  // its cells say more than levels
  for (std::uint32_t c = 0; c < array.columns(); ++c) {
    std::map<std::uint32_t, std::uint32_t> levels;
    for (std::size_t r = 0; r < array.runs; ++r) levels.emplace(array.at(r, c), 0);
    array.levels[c] = 0;
    for (auto& [level, number] : levels) number = array.levels[c]++;
    for (std::size_t r = 0; r < array.runs; ++r) array.at(r, c) = levels[array.at(r, c)];
  }
  return array;
}

/// A share of squares; of what rounding leaves of equal sums, 0.
double shareOf(double squares, double scale) {
  constexpr double kRounding = 1e-12;
  const double share = squares * scale;
  return share < kRounding ? 0 : share;
}

bool isGrid(const Array& array) {
  double combinations = 1;
  for (const std::uint32_t levels : array.levels) combinations *= levels;
  return array.nested.empty() && combinations == static_cast<double>(array.runs) && duplicateRows(array).empty();
}

MainEffect mainEffect(const Array& array, const std::vector<double>& centred, double mean, std::uint32_t factor) {
  MainEffect effect;
  effect.factor = factor;
  effect.means.resize(valuesOf(array, factor));
  Cells cells = gather(array, centred, {factor});
  Cell all;
  if (nestingOf(array.nested, factor) != nullptr) {  // its effect is within its parent's levels
    cells.erase({valuesOf(array, factor)});
    for (const auto& [key, cell] : cells) all = {all.sum + cell.sum, all.count + cell.count};
  }
  effect.squares = between(cells, all.count == 0 ? 0 : all.mean());
  double low = 0, high = 0;
  for (const auto& [key, cell] : cells) {
    effect.means[key.front()] = mean + cell.mean();
    low = &cell == &cells.begin()->second ? cell.mean() : std::min(low, cell.mean());
    high = &cell == &cells.begin()->second ? cell.mean() : std::max(high, cell.mean());
  }
  effect.range = high - low;
  return effect;
}

std::vector<std::uint32_t> others(const Array& array, std::uint32_t factor) {
  std::vector<std::uint32_t> columns(array.columns());
  std::iota(columns.begin(), columns.end(), 0U);
  columns.erase(columns.begin() + factor);
  return columns;
}

}  // namespace

Screening screen(const Array& array, std::span<const double> response) {
  Screening result;
  result.rows = array.runs;
  if (array.runs == 0) return result;
  const auto [low, high] = std::minmax_element(response.begin(), response.end());
  result.low = *low;
  result.high = *high;
  result.mean = std::accumulate(response.begin(), response.end(), 0.0) / static_cast<double>(response.size());
  std::vector<double> centred;
  for (const double y : response) centred.push_back(result.low == result.high ? 0 : y - result.mean);
  for (const double y : centred) result.squares += y * y;
  const double scale = result.squares > 0 ? 1 / result.squares : 0;
  const auto columns = static_cast<std::uint32_t>(array.columns());
  const Array there = occurring(array);
  result.strength = measuredStrength(there, std::min(columns, 4U));
  result.grid = isGrid(there);
  for (std::uint32_t f = 0; f < columns; ++f) {
    MainEffect effect = mainEffect(array, centred, result.mean, f);
    effect.share = shareOf(effect.squares, scale);
    if (effect.share == 0) effect.range = 0;
    if (result.grid && result.squares > 0)
      effect.total = shareOf(result.squares - between(gather(array, centred, others(array, f))), scale);
    result.mains.push_back(std::move(effect));
  }
  if (result.strength < std::min(columns, 3U) || !array.nested.empty()) return result;
  for (std::uint32_t a = 0; a < columns; ++a) {
    for (std::uint32_t b = a + 1; b < columns; ++b) {
      const double cells = between(gather(array, centred, {a, b}));
      const double squares = std::max(0.0, cells - result.mains[a].squares - result.mains[b].squares);
      result.interactions.push_back({a, b, squares, shareOf(squares, scale)});
    }
  }
  return result;
}

double influence(const Screening& screening, std::uint32_t factor) {
  const MainEffect& main = screening.mains[factor];
  if (main.total) return *main.total;
  double share = main.share;
  for (const Interaction& one : screening.interactions) {
    if (one.first == factor || one.second == factor) share += one.share;
  }
  return share;
}

std::vector<std::uint32_t> ranking(const Screening& screening) {
  std::vector<std::uint32_t> order(screening.mains.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return influence(screening, a) > influence(screening, b); });
  return order;
}

}  // namespace tbem::design
