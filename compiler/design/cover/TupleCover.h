// Rows and the tuples of levels that they cover, for any strength. Internal to this folder.
#pragma once

#include "compiler/design/array/Random.h"
#include "compiler/design/rows/ValidRows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::design {

/// Covers of strength t with a counter for every combination of levels of every t factors. The same interface as PairCover.
class TupleCover {
public:
  /// A search changes a row only where it holds all but one level of a tuple already: trying more would cost too much.
  static constexpr std::size_t kMostChanges = 1;
  /// Counters that a cover may have.
  static constexpr std::uint64_t kMostCounters = 40'000'000;

  /// Counters for this strength; nothing above kMostCounters.
  static std::optional<std::uint64_t> counters(const std::vector<std::uint32_t>& levels, std::uint32_t strength);

  /// 1 <= strength <= number of factors, and counters() is there.
  TupleCover(ValidRows& valid, std::uint32_t strength);

  std::size_t rows() const { return cells.size(); }
  const std::vector<std::uint32_t>& row(std::size_t index) const { return cells[index]; }
  std::uint64_t required() const { return total; }
  std::uint64_t largestBlock() const { return largest; }
  std::size_t uncovered() const { return isDense ? openCount : missing.size(); }
  Combination pick(Random& random) const;
  void append(const std::vector<std::uint32_t>& row);
  void drop(std::size_t index);
  void change(std::size_t index, std::span<const Literal> changes);
  std::int64_t gain(std::size_t index, std::span<const Literal> changes);
  std::uint64_t onlyIn(std::size_t index) const;
  std::uint64_t gainCost() const { return changeCost(); }
  std::uint64_t changeCost() const { return levels.empty() ? 1 : appendCost() * strength / levels.size(); }
  /// Of `append`, `drop` and `onlyIn`. Counters that no cache holds take longer.
  std::uint64_t appendCost() const { return choices() * (strength + (counts.size() > kMostCached ? kMissCost : 0)); }

  /// From here on rows are only added, by `appendDense`, and nothing is asked but `uncovered`, `pick`, `row` and `denseGains`.
  void startDense();
  /// What each level of a factor would cover anew with the levels that a valid row has of the factors before it; right of those
  /// that leave the row valid.
  void denseGains(const std::vector<std::uint32_t>& row, std::uint32_t factor, std::vector<std::uint32_t>& gains) const;
  void appendDense(const std::vector<std::uint32_t>& row);

private:
  static constexpr std::size_t kMostCached = std::size_t{1} << 18;
  static constexpr std::uint64_t kMissCost = 20;  ///< in words of memory that is at hand

  std::size_t choices() const { return offsets.size(); }
  std::span<const std::uint32_t> columnsOf(std::size_t choice) const { return {columns.data() + choice * strength, strength}; }
  std::size_t indexOf(std::size_t choice, const std::vector<std::uint32_t>& row) const;
  std::size_t pickOpen(Random& random) const;
  void require(ValidRows& valid, std::size_t choice);
  template <class Visit>
  void eachTouched(std::span<const Literal> changes, Visit visit) const;
  void cover(std::size_t index);
  void uncover(std::size_t index);

  std::vector<std::uint32_t> levels;
  std::uint32_t strength;
  std::uint64_t total = 0, largest = 0;
  /// choices x strength, ascending in a choice; choices by their last column, so that those that end alike lie together
  std::vector<std::uint32_t> columns;
  std::vector<std::size_t> offsets;                   ///< of a choice's first counter
  std::vector<std::vector<std::uint32_t>> choicesOf;  ///< by factor: the choices that hold it
  std::vector<std::size_t> firstEnding;               ///< by factor: the first choice whose last it is, and the end
  std::vector<std::vector<std::uint32_t>> cells;
  std::vector<std::uint32_t> counts;    ///< rows that hold the combination
  std::vector<std::uint32_t> missing;   ///< counters of required tuples that are 0
  std::vector<std::uint32_t> position;  ///< by counter: where in `missing`
  std::vector<std::uint32_t> scratch;   ///< a row as `gain` would have it
  bool isDense = false;
  std::vector<std::uint64_t> open;  ///< a bit a counter, from `startDense` on: what no row holds; it fits where counters do not
  std::size_t openCount = 0;        ///< bits of `open`
};

}  // namespace tbem::design
