// Covering arrays: few rows in which every combination of levels of every t factors stands at least once, and no forbidden one.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/rows/Constraints.h"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace tbem::design {

struct CoveringOptions {
  std::uint64_t seed = 0;
  /// How long to search: so many seconds' worth of steps at a fixed rate, so that the rows are the same on every machine that is
  /// fast enough to take them in as many seconds of processor time; a slower one stops at the time.
  double seconds = 1;
  double patience = 1;  ///< processor time that may pass, in multiples of `seconds`
  std::size_t maxRows = 100'000;
  /// Told now and then: rows so far, and the share of what they must cover, while there are too few; then of the time for fewer.
  std::function<void(std::size_t rows, double share)> progress = {};
};

/// CA(N; t, levels), mixed and constrained (Cohen, Gibbons, Mugridge, Colbourn 2003; Cohen, Dwyer, Shi 2008).
struct Covering {
  Array array;                   ///< its strength, as an orthogonal array, is 0: combinations stand unequally often
  std::uint32_t strength = 0;    ///< t: every combination of t levels that a valid row holds stands in a row
  std::uint64_t covered = 0;     ///< combinations of t levels of different factors in the rows, counted
  std::uint64_t impossible = 0;  ///< such combinations that no valid row holds
  std::uint64_t lowerBound = 0;  ///< no array has fewer rows
  std::string boundReason;       ///< "a * b of the largest two numbers of levels"
  bool endedByClock = false;     ///< a faster machine would have searched on
  /// Rows that were built without a search because the first filling had come to its limit of work, which is twice what the time
  /// to search is worth: a longer one may find fewer rows.
  std::size_t unsearchedRows = 0;
  bool optimal() const { return array.runs == lowerBound; }
};

/// Why there is none: one sentence, lower case, no full stop.
using CoveringChoice = std::variant<Covering, std::string>;

/// `strength` from 1; as many factors with two levels or more, or fewer: all valid combinations of those. Deterministic but for
/// `endedByClock`. What is handed out has been counted: all required combinations are there and every row is valid.
CoveringChoice coveringArray(const Constraints& constraints, std::uint32_t strength, const CoveringOptions& options = {});

/// Where every factor has two levels and t = 2: as few rows as there can be (Kleitman and Spencer 1973; Katona 1973). Row-major,
/// rows x factors. Least N such that (N - 1 choose ceil(N / 2)) >= factors.
std::vector<std::vector<std::uint32_t>> twoLevelCover(std::size_t factors);

}  // namespace tbem::design
