#include "compiler/design/rows/Relabel.h"

#include <algorithm>
#include <utility>

namespace tbem::design {

namespace {

/// Changes that were not for the worse in a row end a climb.
constexpr std::uint32_t kPatience = 300;

/// Swaps two labels of a column, or two columns of equal levels; doing it again undoes it.
struct Swap {
  std::uint32_t column = 0, other = 0;  ///< equal: labels
  std::uint32_t a = 0, b = 0;

  void apply(Array& array) const {
    for (std::size_t r = 0; r < array.runs; ++r) {
      std::uint32_t& cell = array.at(r, column);
      if (column != other) {
        std::swap(cell, array.at(r, other));
      } else if (cell == a || cell == b) {
        cell = cell == a ? b : a;
      }
    }
  }
};

/// Columns that are not nested and that none is nested in.
std::vector<std::uint32_t> crossedColumns(const Array& array) {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t c = 0; c < array.columns(); ++c) {
    const bool nests = std::any_of(array.nested.begin(), array.nested.end(),
                                   [&](const Nested& one) { return one.column == c || one.parent == c; });
    if (!nests) columns.push_back(c);
  }
  return columns;
}

Swap randomSwap(const Array& array, const std::vector<std::uint32_t>& movable, Random& random) {
  Swap swap;
  swap.column = movable[random.below(static_cast<std::uint32_t>(movable.size()))];
  const std::uint32_t other = movable[random.below(static_cast<std::uint32_t>(movable.size()))];
  const bool columns = array.levels[other] == array.levels[swap.column] && random.below(3) == 0;
  swap.other = columns ? other : swap.column;
  swap.a = random.below(array.levels[swap.column]);
  swap.b = random.below(array.levels[swap.column]);
  return swap;
}

std::size_t validRows(const Array& array, const RowFilter& valid) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < array.runs; ++r) count += valid.allows(array.row(r)) ? 1 : 0;
  return count;
}

}  // namespace

std::vector<Array> relabelled(const Array& array, const RowFilter& valid, std::uint64_t checks, std::size_t most,
                              Random& random) {
  std::vector<Array> best{array};
  std::size_t bestRows = validRows(array, valid);
  Array current = array;
  std::size_t rows = bestRows;
  std::uint32_t idle = 0;
  const std::vector<std::uint32_t> movable = crossedColumns(array);
  for (std::uint64_t spent = 0; !movable.empty() && spent < checks && bestRows < array.runs; spent += array.runs) {
    const Swap swap = randomSwap(current, movable, random);
    swap.apply(current);
    const std::size_t now = validRows(current, valid);
    if (now < rows && idle < kPatience) {
      swap.apply(current);
      ++idle;
      continue;
    }
    idle = now > rows || idle >= kPatience ? 0 : idle + 1;  // out of patience: what is worse is taken, and the climb begins anew
    rows = now;
    if (now < bestRows) continue;
    if (now > bestRows) best.clear();
    bestRows = now;
    const bool known = std::any_of(best.begin(), best.end(), [&](const Array& one) { return one.cells == current.cells; });
    if (!known && best.size() < most) best.push_back(current);
  }
  return best;
}

}  // namespace tbem::design
