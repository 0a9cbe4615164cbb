// The combinations of levels that stand in the rows of an array, counted.
#include "compiler/design/array/ColumnChoice.h"
#include "compiler/design/choose/NestedArray.h"
#include "compiler/design/verify/Verify.h"
#include "compiler/design/verify/VerifyNested.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

/// Rows by what they hold in some columns: rows of one class agree there. Classes are numbered from 0, so that there are never
/// more than rows, whatever the combinations. A row without a value in one of the columns, as nested factors have, is in none.
struct Classes {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> of;  ///< by row
  std::size_t count = 0;
};

class CombinationCounter {
public:
  explicit CombinationCounter(const Array& array) : array(array) {
    for (std::uint32_t c = 0; c < array.columns(); ++c) {
      values.push_back(valuesOf(array, c));
      cells.emplace_back(array.runs);
      for (std::size_t r = 0; r < array.runs; ++r) cells.back()[r] = array.at(r, c);
    }
  }

  Classes classesOf(const std::vector<std::uint32_t>& columns) {
    Classes classes{std::vector<std::uint32_t>(array.runs, 0), 1};
    for (const std::uint32_t column : columns) refine(classes, column);
    return classes;
  }

  /// Different combinations of the columns that the classes tell apart, and one more.
  std::size_t count(const Classes& classes, std::uint32_t column) {
    if (classes.count * values[column] > kMostMarks) {
      Classes finer = classes;
      refine(finer, column);
      return finer.count;
    }
    next(classes.count * values[column]);
    std::size_t found = 0;
    for (std::size_t r = 0; r < array.runs; ++r) {
      if (isOut(classes, r, column)) continue;
      std::uint32_t& mark = marks[markOf(classes, r, column)];
      found += mark == round ? 0 : 1;
      mark = round;
    }
    return found;
  }

private:
  static constexpr std::size_t kMostMarks = std::size_t{1} << 24;

  const Array& array;
  std::vector<std::uint32_t> values;              ///< by column: levels that are no absence
  std::vector<std::vector<std::uint32_t>> cells;  ///< by column
  std::vector<std::uint32_t> marks;               ///< by class and level: the last round that saw it
  std::vector<std::uint32_t> numbers;             ///< by class and level: what that round numbered it
  std::uint32_t round = 0;

  void next(std::size_t size) {
    if (marks.size() < size) marks.resize(size, 0);
    ++round;
  }
  bool isOut(const Classes& classes, std::size_t row, std::uint32_t column) const {
    return classes.of[row] == Classes::kNone || cells[column][row] >= values[column];
  }
  std::size_t markOf(const Classes& classes, std::size_t row, std::uint32_t column) const {
    return classes.of[row] * std::size_t{values[column]} + cells[column][row];
  }

  void refine(Classes& classes, std::uint32_t column) {
    if (classes.count * values[column] > kMostMarks) return refineSorted(classes, column);
    next(classes.count * values[column]);
    if (numbers.size() < marks.size()) numbers.resize(marks.size());
    std::uint32_t count = 0;
    for (std::size_t r = 0; r < array.runs; ++r) {
      if (isOut(classes, r, column)) {
        classes.of[r] = Classes::kNone;
        continue;
      }
      const std::size_t at = markOf(classes, r, column);
      if (marks[at] != round) numbers[at] = count++;
      marks[at] = round;
      classes.of[r] = numbers[at];
    }
    classes.count = count;
  }

  /// Where marks would take more room than the rows do.
  void refineSorted(Classes& classes, std::uint32_t column) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t r = 0; r < array.runs; ++r) {
      if (!isOut(classes, r, column)) order.push_back(r);
    }
    const auto key = [&](std::uint32_t r) { return std::pair{classes.of[r], cells[column][r]}; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<std::uint32_t> finer(array.runs, Classes::kNone);
    classes.count = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || key(order[i]) != key(order[i - 1])) ++classes.count;
      finer[order[i]] = static_cast<std::uint32_t>(classes.count - 1);
    }
    classes.of = std::move(finer);
  }
};

/// Their product; 0 above 2^62.
std::uint64_t combinationsOf(const Array& array, const std::vector<std::uint32_t>& columns) {
  std::uint64_t product = 1;
  for (const std::uint32_t c : columns) {
    if (product > (std::uint64_t{1} << 62) / array.levels[c]) return 0;
    product *= array.levels[c];
  }
  return product;
}

}  // namespace

Coverage coverage(const Array& array, std::uint32_t t) {
  Coverage result;
  const auto factors = static_cast<std::uint32_t>(array.columns());
  const std::uint32_t size = std::min(t, factors);
  if (size == 0) return result;
  CombinationCounter counter(array);
  std::vector<std::uint32_t> prefix(size - 1);
  std::iota(prefix.begin(), prefix.end(), 0U);
  do {
    const Classes classes = counter.classesOf(prefix);
    std::vector<std::uint32_t> choice = prefix;
    choice.push_back(0);
    for (choice.back() = prefix.empty() ? 0 : prefix.back() + 1; choice.back() < factors; ++choice.back()) {
      result.covered += counter.count(classes, choice.back());
      result.total += array.nested.empty() ? combinationsOf(array, choice) : existingCombinations(array, choice);
    }
  } while (nextChoice(prefix, factors));
  return result;
}

}  // namespace tbem::design
