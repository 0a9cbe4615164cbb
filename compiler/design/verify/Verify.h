// What an array is, found by counting: nothing here trusts the construction.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/support/Rational.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

/// A choice of columns whose combinations do not stand equally often.
struct Imbalance {
  std::vector<std::uint32_t> columns;
  std::vector<std::uint32_t> combination;  ///< level indices, one a column
  std::uint64_t count = 0;                 ///< rows that hold it
  Rational expected;                       ///< runs / number of combinations
};

/// The first imbalance among all choices of at most `strength` columns; nothing: the array has that strength. Exact.
/// Cost: choices x runs. Of nested columns as findNestedImbalance says. A cell outside its column's levels counts as an imbalance
/// (combination empty).
std::optional<Imbalance> findImbalance(const Array& array, std::uint32_t strength);

/// Of all levels and pairs of levels of columns that are not nested, that whose count differs most from what would be even, as a
/// share of that; nothing: all stand equally often. Cost: pairs of columns x runs.
std::optional<Imbalance> largestImbalance(const Array& array);

/// What counting that strength costs: choices of columns times rows. Of two-level columns 64 rows are counted at once.
double countingCost(const Array& array, std::uint32_t strength);
/// More takes minutes.
constexpr double kMostCounted = 2e10;

/// The largest strength up to `limit` (and up to the number of columns).
std::uint32_t measuredStrength(const Array& array, std::uint32_t limit);

/// Rows of each level, by column; of a nested one without its absence.
std::vector<std::vector<std::uint64_t>> levelCounts(const Array& array);

/// J2 (Xu 2002) with natural weights: the sum over pairs of rows of the square of the number of levels of all columns in which
/// they agree. Least for orthogonal arrays of strength 2, and for those alone.
struct Coincidences {
  std::uint64_t squares = 0;
  std::int64_t least = 0;  ///< what arrays of these levels and rows have at least; no array need reach it
};
/// Nothing for arrays with nested columns, and where pairs x columns exceed 4e9.
std::optional<Coincidences> rowCoincidences(const Array& array);

/// Groups of equal rows, each group ascending, only groups of two or more.
std::vector<std::vector<std::size_t>> duplicateRows(const Array& array);

/// Generalised word-length pattern A_0 .. A_maxLength (Xu and Wu 2001), exact: A_j = sum over ordered pairs of rows of the
/// coefficient of z^j in prod over columns (equal: 1 + (s-1) z, unequal: 1 - z), over runs^2. A_1 .. A_t = 0 iff strength >= t.
/// Nothing where a number leaves 64 bits, or runs^2 x columns exceeds 4e9.
std::optional<std::vector<Rational>> wordLengthPattern(const Array& array, std::uint32_t maxLength);

/// Combinations of `t` levels that stand in at least one row, and all that there are; absences of nested factors are none.
struct Coverage {
  std::uint64_t covered = 0, total = 0;
};
Coverage coverage(const Array& array, std::uint32_t t);

}  // namespace tbem::design
