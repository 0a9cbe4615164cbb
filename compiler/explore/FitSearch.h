// The largest level of a factor such that it and all smaller ones fit a memory.
//
// What a row takes need not grow with every level: an allocator's segments, and a library's workspaces, come in steps. So a first
// level that does not fit is looked for by doubling and halving, and then every level down from it is tried, an eighth of the way
// (16 to 256 of them); where one of those does not fit it takes the first one's place. After 16 that fit they end early where a
// level leaves one and a half times as much of the memory as any level was seen to take more than a larger one, a hundredth at
// least.
//
// Levels that cannot be built, because a condition of the program does not hold there or a number leaves its range, are passed
// over: below the least that can be built, and in a pattern. Where 256 in a row above one that can be built cannot, the search
// takes them as a bound from above, and ends there. It also ends when its limit of work is reached.
//
// Where something is known that no allocator does without, live tensors, levels above the last whose live tensors fit need no
// trial. What lies between live tensors and the limit at a level that does not fit is what the allocator wasted there. Sixteen
// levels down to three fifths of the last are tried, of large networks (65 536 events seen) only until six in a row fit, of which
// the last leaves four times the largest waste that was seen. The lowest that does not fit is narrowed by halving, and from there
// each level down is tried until live tensors leave one and a half times the largest waste that was seen, of each run of levels
// that fit at least eight, of small networks more: as many as 65 536 events, or 64. Where that is far, the search ends when 64 in
// a row fit and it has replayed 196 608 events, so that of small networks it tries all.
#pragma once

#include "compiler/explore/FitLimit.h"
#include "compiler/pytorch/rows/EagerSteps.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tbem::driver {

/// Why there is nothing to look for.
inline constexpr const char* kNoNetwork =
    "the program has no design of a network: give --input image=batch,3,224,224 (and --task) for its network";

/// What a level takes.
struct LevelTrial {
  bool exists = false;  ///< it can be built
  bool fits = true;
  std::uint64_t bytes = 0;
  std::string why;         ///< it does not fit: where
  std::uint64_t live = 0;  ///< of `bytes`, what no allocator does without; 0: not known
  std::size_t events = 0;  ///< of the step: what the trial cost
};

struct Fit {
  std::optional<std::uint64_t> largest;  ///< none: the least level that exists does not fit, or none exists
  std::optional<std::uint64_t> failing;  ///< the first that does not fit; none up to kMostLevel
  std::uint64_t checkedFrom = 0;         ///< every level from here on was tried
  std::optional<std::uint64_t> most;     ///< of no level above it do live tensors fit, whatever the allocator does
  /// Where `failing` is nothing: the level next to `largest` that cannot be built, nor can any of the 256 above `largest`.
  std::optional<std::uint64_t> bound;
  bool workEnded = false;  ///< the limit of work was reached: levels that were not tried count as ones that do not fit
};

class LevelSearch {
public:
  static constexpr std::uint64_t kMostLevel = std::uint64_t{1} << 24U;

  /// Work is counted in events of an allocator, or what takes about as long, so that it ends at the same level on each machine:
  /// seconds here. A level that cannot be built counts kAbsentWork.
  static constexpr std::size_t kMostWork = std::size_t{1} << 25U, kAbsentWork = 2000;

  explicit LevelSearch(std::function<LevelTrial(std::uint64_t)> tryLevel, std::size_t mostWork = kMostWork)
      : tryLevel(std::move(tryLevel)), mostWork(mostWork) {}

  /// Whether levels below the first that does not fit are tried too; trusted, a smaller one that does not fit is not found.
  enum class Below : std::uint8_t { Tried, Trusted };
  /// `limit`: the memory (0: every level down is tried); where a bound ends the search and half of it is left there, levels below
  /// the bound are not tried.
  Fit search(Below below = Below::Tried, std::uint64_t limit = 0);
  /// What no allocator does without at a level; nothing: the level does not exist.
  using Live = std::function<std::optional<std::uint64_t>(std::uint64_t level)>;
  Fit searchWithin(std::uint64_t limit, const Live& live);
  /// Every level from 1 on, until one does not fit.
  Fit searchAll();
  /// Where none up to this exists, none is taken to: a search ends with neither a largest nor a failing level.
  static constexpr std::uint64_t kMostAbsent = 4096;
  const LevelTrial& at(std::uint64_t level);
  std::size_t count() const { return tried.size(); }

private:
  bool anyBelow(std::uint64_t level) const;
  /// The next level from this one on that exists, among kMostChecked.
  std::optional<std::uint64_t> nextFrom(std::uint64_t level);
  Fit ended(std::uint64_t bad, std::uint64_t checkedFrom);
  bool noneUpTo(std::uint64_t level) const;
  bool leavesRoom(std::uint64_t level, std::uint64_t limit);
  /// Of a level that does not exist: whether the nearest one below fits, among the next kMostChecked; where there is none though
  /// some exist farther below, levels are bounded from above and it does not.
  bool holds(std::uint64_t level);
  std::uint64_t firstBad(std::uint64_t good, std::uint64_t bad);
  std::uint64_t lowestRung(std::uint64_t last, std::uint64_t limit);
  std::uint64_t largestFittingBelow(std::uint64_t level) const;
  std::uint64_t between(std::uint64_t good, std::uint64_t bad, std::uint64_t limit, std::uint64_t steps) const;
  double left(std::uint64_t level, std::uint64_t limit);
  double waste(std::uint64_t bad, std::uint64_t limit);
  std::optional<std::uint64_t> largestUpTo(std::uint64_t level);

  std::function<LevelTrial(std::uint64_t)> tryLevel;
  std::map<std::uint64_t, LevelTrial> tried;
  std::size_t events = 0;  ///< of all levels tried
  std::size_t mostWork, work = 0;
  bool workEnded = false;
};

/// The rows that differ in one factor alone, each elaborated once.
class VariedRows {
public:
  VariedRows(State& state, DesignRun& run, LevelIndices levels, std::uint32_t factor)
      : state(state), run(run), levels(std::move(levels)), factor(factor) {}
  /// nullptr: its conditions do not hold.
  const graph::Row* at(std::uint64_t level);
  /// What is wrong with the first level that was asked for and does not exist.
  const std::deque<Diagnostic>& whyAbsent() const { return why; }
  /// Why this level cannot be built: the first diagnostic; nothing: it can.
  std::optional<Diagnostic> whyNot(std::uint64_t level);

private:
  State& state;
  DesignRun& run;
  LevelIndices levels;
  std::uint32_t factor;
  std::map<std::uint64_t, std::optional<graph::Row>> rows;
  std::deque<Diagnostic> why;
};

/// The largest level whose live tensors fit; LevelSearch::kMostLevel: all do. Live tensors grow almost in proportion to the
/// level, so that a line through two levels soon meets the limit.
std::uint64_t largestLive(std::uint64_t limit, const LevelSearch::Live& live);

/// Whether a row fits the card's memory in eager PyTorch: as expected, and where `upper` is asked for, with each convolution's
/// largest engine too. Errors: it cannot be estimated at all.
tl::expected<LevelTrial, estimate::NoValue> tryPyTorch(const graph::Row& row, EagerSteps& eager, const MemoryLimit& limit,
                                                       const SourceManager& sources);

}  // namespace tbem::driver
