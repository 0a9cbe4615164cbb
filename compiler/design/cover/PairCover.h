// Rows and the pairs of levels that they cover, kept up to date as cells change. Internal to this folder.
#pragma once

#include "compiler/design/array/Random.h"
#include "compiler/design/rows/ValidRows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbem::design {

/// Covers of strength 2, by sets of bits: for each level the levels that it meets in no row and those that it meets in one. What
/// a change of a cell would cover and uncover is then a few words, whatever the number of factors.
class PairCover {
public:
  /// Cells that a search changes in a row to put a pair there.
  static constexpr std::size_t kMostChanges = 2;
  /// No rows; every pair that a valid row holds is uncovered.
  explicit PairCover(ValidRows& valid);

  std::size_t rows() const { return cells.size(); }
  const std::vector<std::uint32_t>& row(std::size_t index) const { return cells[index]; }
  /// Pairs that valid rows hold.
  std::uint64_t required() const { return total; }
  /// The most that are required of one choice of two factors: no cover has fewer rows.
  std::uint64_t largestBlock() const { return largest; }
  std::size_t uncovered() const { return missing.size(); }
  Combination pick(Random& random) const;

  void append(const std::vector<std::uint32_t>& row);
  /// The last row takes its place.
  void drop(std::size_t index);
  /// The row takes these levels, each of another factor, and is valid after them.
  void change(std::size_t index, std::span<const Literal> changes);
  /// Pairs fewer (or, negative, more) that were uncovered by `change`, each a level that the row has not.
  std::int64_t gain(std::size_t index, std::span<const Literal> changes);
  /// Pairs that only this row covers.
  std::uint64_t onlyIn(std::size_t index) const;
  /// Words that `gain` and `change` touch for each cell, about: what a search costs.
  std::uint64_t gainCost() const { return words + 4; }
  std::uint64_t changeCost() const { return (literals > kMostCached ? kMissCost : 4) * offsets.size(); }
  /// Of `append`, `drop` and `onlyIn`.
  std::uint64_t appendCost() const { return offsets.size() * changeCost() / 2; }

  /// What each level of a factor would cover anew with the levels that a valid row has of the factors before it; right of those
  /// that leave the row valid.
  void denseGains(const std::vector<std::uint32_t>& row, std::uint32_t factor, std::vector<std::uint32_t>& gains) const;
  void startDense() {}
  void appendDense(const std::vector<std::uint32_t>& row) { append(row); }

private:
  using Word = std::uint64_t;
  /// Pairs of more levels than these are counted in memory that no cache holds.
  static constexpr std::size_t kMostCached = 1000;
  static constexpr std::uint64_t kMissCost = 12;
  std::size_t literal(std::size_t factor, std::uint32_t level) const { return offsets[factor] + level; }
  Word* zeroOf(std::size_t l) { return zero.data() + l * words; }
  const Word* zeroOf(std::size_t l) const { return zero.data() + l * words; }
  const Word* onceOf(std::size_t l) const { return once.data() + l * words; }
  const Word* bitsOf(std::size_t row) const { return bits.data() + row * words; }
  std::int64_t common(const Word* a, const Word* b) const;
  void cover(std::size_t a, std::size_t b);
  void uncover(std::size_t a, std::size_t b);
  void mark(std::vector<Word>& set, std::size_t a, std::size_t b);

  std::vector<std::size_t> offsets;     ///< of a factor's first literal
  std::vector<std::uint32_t> factorOf;  ///< by literal
  std::size_t literals = 0, words = 0;
  std::uint64_t total = 0, largest = 0;
  std::vector<std::vector<std::uint32_t>> cells;
  std::vector<Word> bits;               ///< rows x words: the literals of each row
  std::vector<std::uint32_t> counts;    ///< literals x literals, a < b: rows that hold both
  std::vector<Word> zero, once;         ///< literals x words, symmetric: required and in no row; in one row
  std::vector<std::uint64_t> missing;   ///< required pairs in no row, as a * literals + b, a < b
  std::vector<std::uint32_t> position;  ///< literals x literals: where in `missing`
  std::vector<Word> after;              ///< words: scratch of `gain`
};

}  // namespace tbem::design
