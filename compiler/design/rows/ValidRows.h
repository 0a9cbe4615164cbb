// What constraints leave: whether levels can stand together in a valid row, and valid rows that hold them. Exact.
#pragma once

#include "compiler/design/rows/Constraints.h"
#include "compiler/support/Random.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tbem::design {

/// Searches the valid rows of some constraints: backtracking over levels with unit propagation (Davis, Logemann, Loveland 1962)
/// on forbidden combinations, one group of connected factors at a time. Not for use by two threads at once.
class ValidRows {
public:
  static constexpr std::uint32_t kFree = UINT32_MAX;
  /// Decisions that one question may take; the constraints of experiments take none or a few.
  static constexpr std::uint64_t kMostDecisions = 1'000'000;

  /// Literals that all calls of `possible` together may look at, about.
  static constexpr std::uint64_t kMostAsked = 4'000'000'000;

  explicit ValidRows(Constraints constraints);

  const Constraints& constraints() const { return rules; }
  std::size_t factors() const { return rules.levels.size(); }
  /// Whether the factor stands in any forbidden combination.
  bool constrained(std::uint32_t factor) const { return groupOf[factor] != kFree; }
  /// Whether the two factors' levels can depend on each other.
  bool connected(std::uint32_t a, std::uint32_t b) const { return constrained(a) && groupOf[a] == groupOf[b]; }
  /// Whether `row`, valid before, is still valid after it took these levels of different factors.
  bool allowsChange(std::span<const std::uint32_t> row, std::span<const Literal> changes) const;

  /// Whether a valid row holds these levels, ascending by factor.
  bool possible(std::span<const Literal> levels);
  /// Changes `row`, which is valid, so that it holds these levels (ascending by factor) and is valid; keeps its other levels as
  /// far as they go with them. False where no valid row holds them: unchanged then.
  bool place(std::span<const Literal> levels, std::vector<std::uint32_t>& row);
  /// A valid row; nothing where there is none.
  const std::optional<std::vector<std::uint32_t>>& anyRow() const { return first; }
  /// Literals looked at since the last call, about: what questions cost.
  std::uint64_t takeWork() { return std::exchange(work, 0); }
  /// A question took more than kMostDecisions, or all calls of `possible` more than kMostAsked: answers since then may wrongly be
  /// no.
  bool gaveUp() const { return exhausted; }

private:
  struct Decision {
    std::uint32_t factor = 0;
    std::uint32_t tried = 0;  ///< levels tried, in order of preference
    std::size_t trailSize = 0;
  };
  std::size_t literal(std::uint32_t factor, std::uint32_t level) const { return offsets[factor] + level; }
  std::uint32_t preferredLevel(std::uint32_t factor, std::uint32_t position) const;
  bool assign(std::uint32_t factor, std::uint32_t level);
  bool visit(std::uint32_t combination);
  bool propagate();
  void undo(std::size_t trailSize);
  bool decideNext(std::vector<Decision>& stack);
  bool solve(std::uint32_t group);
  bool search(std::span<const Literal> levels);
  bool stands(std::span<const Literal> levels) const;

  Constraints rules;
  std::vector<std::size_t> offsets;                     ///< of a factor's first literal
  std::vector<std::vector<std::uint32_t>> occurrences;  ///< combinations by literal
  std::vector<std::uint32_t> groupOf;                   ///< by factor; kFree: in no combination
  std::vector<std::vector<std::uint32_t>> groups;       ///< factors
  std::optional<std::vector<std::uint32_t>> first;

  // State of a search.
  std::vector<std::uint32_t> value;    ///< by factor, or kFree
  std::vector<std::uint32_t> left;     ///< levels not removed, by factor
  std::vector<char> removed;           ///< by literal
  std::vector<Literal> trail;          ///< levels removed and factors assigned (level kFree), in order
  std::vector<std::uint32_t> pending;  ///< assigned factors whose combinations are to be visited
  std::vector<std::uint32_t> wish;     ///< preferred row, or empty
  static constexpr std::uint32_t kMostSeen = 256;
  std::vector<std::vector<std::uint32_t>> seen;  ///< valid rows that `possible` has found
  Random random{1};                              ///< what rows it looks for
  std::uint64_t asked = 0;
  std::uint64_t decisions = 0;
  mutable std::uint64_t work = 0;
  bool exhausted = false;
};

/// Valid rows in all; nothing where they leave 64 bits or counting takes too much room. Counted along a decision diagram: factor
/// by factor, rows that agree on what they may still complete of combinations are counted together.
std::optional<std::uint64_t> countValidRows(const Constraints& constraints);

}  // namespace tbem::design
