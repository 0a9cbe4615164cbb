#include "compiler/explore/FitSearch.h"

#include "compiler/diagnostics/Aside.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

constexpr std::uint64_t kLeastChecked = 16, kMostChecked = 256;
// Of searchWithin: with these 100 pairs of ten networks and five memories, with and without workspaces, end where trying every
// level does; with eight as the least below for all one does not, nor where events end after five sixths of the most.
constexpr std::uint64_t kRungs = 16, kLeastBelow = 8, kMostBelow = 64;
constexpr std::size_t kLeastEvents = std::size_t{1} << 16U, kMostEvents = std::size_t{3} << 16U;
constexpr std::size_t kMostLines = 9;
constexpr std::uint64_t kFarther = 64;  ///< a line is followed to so many times the largest level that fits
constexpr double kLadder = 0.4, kLeastWaste = 0.01, kTimesWaste = 1.5;
// Of the same pairs, the longest row of rungs that fit above one that does not is five, of networks of less than 1 000 events.
constexpr std::uint64_t kLeastRungs = 6;
constexpr std::size_t kRungEvents = std::size_t{1} << 16U;
constexpr double kRungTimesWaste = 4;
// Networks of tens of thousands of events, whose elaboration takes a third of a second: fewer rungs, and no more levels below
// than the least.
constexpr std::size_t kLadderEvents = std::size_t{1} << 19U;

std::uint64_t lowerEnd(std::uint64_t bad) { return bad - std::min(bad - 1, std::clamp(bad / 8, kLeastChecked, kMostChecked)); }

}  // namespace

bool LevelSearch::anyBelow(std::uint64_t level) const {
  return std::any_of(tried.begin(), tried.lower_bound(level), [](const auto& one) { return one.second.exists; });
}

bool LevelSearch::holds(std::uint64_t level) {
  for (std::uint64_t near = level, left = kMostChecked; near > 0 && left > 0; --near, --left) {
    if (at(near).exists) return at(near).fits;
  }
  return !anyBelow(level);
}

std::optional<std::uint64_t> LevelSearch::nextFrom(std::uint64_t level) {
  for (std::uint64_t next = level; next < level + kMostChecked; ++next) {
    if (at(next).exists) return next;
  }
  return std::nullopt;
}

/// What is known when `bad` is the lowest level that does not fit or lies behind a bound.
Fit LevelSearch::ended(std::uint64_t bad, std::uint64_t checkedFrom) {
  Fit fit;
  fit.checkedFrom = checkedFrom;
  if (workEnded) {
    for (const auto& [level, trial] : tried) {
      if (level < bad && trial.exists && trial.fits) fit.largest = level;
      if (level >= bad && trial.exists && !trial.fits && !fit.failing) fit.failing = level;
    }
    fit.workEnded = true;
    return fit;
  }
  fit.largest = largestUpTo(bad - 1);
  fit.failing = nextFrom(bad);
  if (!fit.failing && fit.largest) {  // the next that the levels below let one expect
    const std::optional<std::uint64_t> before = largestUpTo(*fit.largest - 1);
    fit.bound = *fit.largest + (before ? *fit.largest - *before : 1);
  }
  fit.workEnded = workEnded;
  return fit;
}

bool LevelSearch::noneUpTo(std::uint64_t level) const {
  return level >= kMostAbsent && std::ranges::none_of(tried, [](const auto& one) { return one.second.exists; });
}

Fit LevelSearch::searchAll() {
  std::uint64_t level = 1;
  while (level <= kMostLevel && holds(level)) {
    if (noneUpTo(level)) return {};
    ++level;
  }
  if (level <= kMostLevel) return ended(level, 1);
  Fit fit;
  fit.checkedFrom = 1;
  fit.largest = largestUpTo(kMostLevel);
  return fit;
}

Fit LevelSearch::search(Below below, std::uint64_t limit) {
  std::uint64_t good = 0, bad = kMostLevel + 1, next = 1;  // no level is 0
  for (std::uint64_t steps = 0; bad - good > 1; ++steps) {
    if (holds(next)) {
      if (noneUpTo(next)) return {};
      good = next;
    } else {
      bad = next;
    }
    if (bad - good > 1) next = between(good, bad, limit, steps);
  }
  if (bad > kMostLevel) {
    Fit fit;
    fit.largest = largestUpTo(good);
    return fit;
  }
  const Fit first = ended(bad, bad);
  if (below == Below::Trusted || workEnded) return first;
  const bool roomy = first.bound && at(*first.largest).bytes <= limit / 2;
  std::uint64_t level = first.bound ? *first.largest + 1 : bad;
  std::uint64_t fitting = 0;
  for (std::uint64_t end = roomy ? level : lowerEnd(level); level > end;) {
    const bool fits = holds(level - 1);
    if (workEnded) break;
    --level;
    if (fits) {
      if (++fitting >= kLeastChecked && leavesRoom(level, limit)) break;
      continue;
    }
    bad = firstBad(0, level);
    level = bad;
    end = lowerEnd(bad);
    fitting = 0;
  }
  return ended(bad, level);
}

/// The level to try next: where a line through the two largest levels that were tried meets the limit, or, where there is none or
/// lines do not lead there, the double or the middle.
std::uint64_t LevelSearch::between(std::uint64_t good, std::uint64_t bad, std::uint64_t limit, std::uint64_t steps) const {
  const std::uint64_t plain =
      bad > kMostLevel ? std::min(std::max<std::uint64_t>(2 * good, 1), kMostLevel) : good + (bad - good) / 2;
  const LevelTrial *large = nullptr, *small = nullptr;
  std::uint64_t largeLevel = 0, smallLevel = 0;
  for (const auto& [level, trial] : tried) {
    if (!trial.exists || trial.bytes == 0) continue;
    small = large, smallLevel = largeLevel;
    large = &trial, largeLevel = level;
  }
  if (limit == 0 || small == nullptr || small->bytes >= large->bytes || steps > kMostLines) return plain;
  const double slope = static_cast<double>(large->bytes - small->bytes) / static_cast<double>(largeLevel - smallLevel);
  const double meets = static_cast<double>(largeLevel) + (static_cast<double>(limit) - static_cast<double>(large->bytes)) / slope;
  const auto most = static_cast<double>(std::min(bad - 1, std::max(good + 1, kFarther * good)));
  return static_cast<std::uint64_t>(std::clamp(meets, static_cast<double>(good + 1), most));
}

/// Whether what a level leaves of the limit is one and a half times what some level took more than a larger one.
bool LevelSearch::leavesRoom(std::uint64_t level, std::uint64_t limit) {
  const std::optional<std::uint64_t> near = largestUpTo(level);
  if (limit == 0 || !near) return false;
  std::uint64_t leastAbove = std::numeric_limits<std::uint64_t>::max(), unevenness = 0;
  for (auto trial = tried.rbegin(); trial != tried.rend(); ++trial) {
    const LevelTrial& other = trial->second;
    if (!other.exists || other.bytes == 0) continue;
    unevenness = std::max(unevenness, other.bytes - std::min(other.bytes, leastAbove));
    leastAbove = std::min(leastAbove, other.bytes);
  }
  const double uneven = std::max(kLeastWaste, static_cast<double>(unevenness) / static_cast<double>(limit));
  return 1 - static_cast<double>(at(*near).bytes) / static_cast<double>(limit) > kTimesWaste * uneven;
}

Fit LevelSearch::searchWithin(std::uint64_t limit, const Live& live) {
  const std::uint64_t last = largestLive(limit, live);
  if (last >= kMostLevel) return search(Below::Tried, limit);
  std::uint64_t bad = last == 0 ? 1 : lowestRung(last, limit);
  double wasted = waste(bad, limit);
  const std::uint64_t least = std::clamp<std::uint64_t>(kLeastEvents / (at(bad).events + 1), kLeastBelow, kMostBelow);
  std::uint64_t level = bad;
  for (std::uint64_t fitting = 0; level > 1 && (fitting < kMostBelow || events < kMostEvents);) {
    const bool fits = holds(level - 1);
    if (workEnded) break;
    --level;
    if (fits) {
      const bool large = fitting * at(level).events >= kMostEvents;
      if (++fitting >= least && (large || left(level, limit) > kTimesWaste * wasted)) break;
      continue;
    }
    level = bad = firstBad(largestFittingBelow(level), level);
    wasted = std::max(wasted, waste(bad, limit));
    fitting = 0;
  }
  return ended(bad, level);
}

/// A level that does not fit whose predecessor does, below the lowest of the levels tried that does not.
std::uint64_t LevelSearch::lowestRung(std::uint64_t last, std::uint64_t limit) {
  std::uint64_t good = 0, bad = last + 1;
  const std::uint64_t steps = std::clamp<std::uint64_t>(kLadderEvents / (at(last).events + 1), kLeastRungs, kRungs);
  std::vector<std::uint64_t> rungs;
  for (std::uint64_t i = 0; i <= steps; ++i) {
    const double down = kLadder * static_cast<double>(i) / static_cast<double>(steps);
    rungs.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(last) * (1 - down))));
  }
  std::uint64_t fitting = 0;
  double wasted = kLeastWaste;
  for (const std::uint64_t rung : rungs) {
    if (!holds(rung)) {
      bad = rung;
      wasted = std::max(wasted, waste(rung, limit));
      fitting = 0;
      continue;
    }
    const bool enough = ++fitting >= kLeastRungs && events >= kRungEvents;
    if (enough && left(rung, limit) > kRungTimesWaste * wasted) break;
  }
  for (const std::uint64_t rung : rungs) {
    if (rung < bad && tried.contains(rung)) good = std::max(good, rung);
  }
  return firstBad(good, bad);
}

/// The largest level below this one of those that were tried and fit; 0 where there is none.
std::uint64_t LevelSearch::largestFittingBelow(std::uint64_t level) const {
  std::uint64_t largest = 0;
  for (auto trial = tried.begin(); trial != tried.lower_bound(level); ++trial) {
    if (trial->second.exists && trial->second.fits) largest = trial->first;
  }
  return largest;
}

/// The share of the limit that live tensors leave at a level, or at the next below that exists.
double LevelSearch::left(std::uint64_t level, std::uint64_t limit) {
  const std::uint64_t near = largestUpTo(level).value_or(level);
  return 1 - static_cast<double>(at(near).live) / static_cast<double>(limit);
}

/// The same at a level that does not fit: what the allocator wastes there.
double LevelSearch::waste(std::uint64_t bad, std::uint64_t limit) {
  const std::optional<std::uint64_t> level = nextFrom(bad);
  return level ? std::max(kLeastWaste, left(*level, limit)) : kLeastWaste;
}

std::uint64_t largestLive(std::uint64_t limit, const LevelSearch::Live& live) {
  struct Point {
    double level = 0, bytes = 0;
  };
  std::vector<Point> known;
  std::uint64_t good = 0, bad = LevelSearch::kMostLevel + 1, level = 1;
  std::uint64_t largest = 0;  // that exists and fits
  while (bad - good > 1) {
    std::optional<std::uint64_t> bytes;
    std::uint64_t near = level;
    for (std::uint64_t left = kMostChecked; near > largest && left > 0; --near, --left) {
      bytes = live(near);
      if (bytes) break;
    }
    if (bytes) {
      known.push_back({static_cast<double>(near), static_cast<double>(*bytes)});
      if (*bytes > limit) {
        bad = near;
      } else {
        good = level;
        largest = near;
      }
    } else if (known.empty() && level >= LevelSearch::kMostAbsent) {
      return LevelSearch::kMostLevel;
    } else if (known.empty() || level - largest < kMostChecked) {
      good = level;
    } else {
      bad = level;  // bounded from above
    }
    if (bad <= good) return bad - 1;
    const std::uint64_t least = good + 1, most = bad - 1;
    if (least > most) break;
    level = bad > LevelSearch::kMostLevel ? std::min(2 * level, most) : good + (bad - good) / 2;
    if (!bytes || known.size() < 2 || known.size() > kMostLines) continue;
    const Point& now = known.back();
    const Point& before = known[known.size() - 2];
    if (now.bytes == before.bytes) continue;
    const double meets =
        now.level + (static_cast<double>(limit) - now.bytes) * (now.level - before.level) / (now.bytes - before.bytes);
    level = static_cast<std::uint64_t>(std::clamp(meets, static_cast<double>(least), static_cast<double>(most)));
  }
  return good;
}

const LevelTrial& LevelSearch::at(std::uint64_t level) {
  static const LevelTrial kNotTried{true, false, 0, "not tried: the limit of work was reached"};
  if (work >= mostWork && !tried.contains(level)) {
    workEnded = true;
    return kNotTried;
  }
  const auto [place, isNew] = tried.try_emplace(level);
  if (isNew) {
    place->second = tryLevel(level);
    events += place->second.events;
    work += place->second.exists ? place->second.events + 1 : kAbsentWork;
  }
  return place->second;
}

/// A level that does not fit whose predecessor does, between one that does and one that does not.
std::uint64_t LevelSearch::firstBad(std::uint64_t good, std::uint64_t bad) {
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (middle == 0 || holds(middle) ? good : bad) = middle;
  }
  return bad;
}

std::optional<std::uint64_t> LevelSearch::largestUpTo(std::uint64_t level) {
  for (std::uint64_t left = kMostChecked; level > 0 && left > 0; --level, --left) {
    if (at(level).exists) return level;
  }
  return std::nullopt;
}

const graph::Row* VariedRows::at(std::uint64_t level) {
  const auto [place, isNew] = rows.try_emplace(level);
  if (isNew) {
    if (const auto index = levelOf(run.spec, run.spec.factors[factor], std::to_string(level))) {
      levels[factor] = *index;
      std::deque<Diagnostic> told = reportsOf(state.sink(), [&] { place->second = run.experiment->row(levels); });
      if (!place->second && why.empty()) why = std::move(told);
    }
  }
  return place->second ? &*place->second : nullptr;
}

std::optional<Diagnostic> VariedRows::whyNot(std::uint64_t level) {
  std::optional<graph::Row> row;
  const std::deque<Diagnostic> told = reportsOf(state.sink(), [&] {
    const auto index = levelOf(run.spec, run.spec.factors[factor], std::to_string(level));
    if (!index) return;
    levels[factor] = *index;
    row = run.experiment->row(levels);
  });
  if (row || told.empty()) return std::nullopt;
  return told.front();
}

namespace {

/// The tensor for which there is no room.
std::string whyNot(const estimate::EagerStep& step, const estimate::Replay& replay, estimate::EagerEngines engines,
                   const graph::Row& row, const SourceManager& sources) {
  const NoRoom refused = noRoom(step, replay, engines);
  if (refused.op == nullptr) return refused.what;
  return fmt::format("{} at {}, {}", refused.what, refused.op->name, sources.describe(row.graph()[refused.op->op].range.begin));
}

}  // namespace

tl::expected<LevelTrial, estimate::NoValue> tryPyTorch(const graph::Row& row, EagerSteps& eager, const MemoryLimit& limit,
                                                       const SourceManager& sources) {
  using estimate::EagerEngines;
  const auto step = eager.of(row);
  if (!step) return tl::unexpected(step.error());
  LevelTrial trial;
  trial.exists = true;
  if (!eager.onCuda()) {
    trial.bytes = estimate::eagerPeak(*step, 1).bytes;
    trial.fits = trial.bytes <= limit.bytes;
    if (!trial.fits) trial.why = fmt::format("live tensors take {}", report::bytes(trial.bytes));
    return trial;
  }
  if (limit.upper && !eager.engineListsComplete(*step)) {
    trial.fits = false;
    trial.why = "has no upper bound: cuDNN did not list the engines of every convolution";
    return trial;
  }
  for (const EagerEngines engines : {EagerEngines::Expected, EagerEngines::Most}) {
    if (engines == EagerEngines::Most && !limit.upper) break;
    const EagerEngines least = engines == EagerEngines::Expected ? EagerEngines::Last : engines;
    trial.live = std::max(trial.live, estimate::eagerPeak(*step, estimate::kEagerBlock, least).bytes);
    trial.events += step->events.size();
    if (limit.reserved) {
      const auto memory = eager.memoryOf(row, *step, engines);
      if (!memory) return tl::unexpected(memory.error());
      trial.bytes = memory->reserved;
      trial.fits = trial.bytes <= limit.bytes;
      if (!trial.fits) trial.why = fmt::format("the allocator reserves {}", report::bytes(trial.bytes));
      break;
    }
    const estimate::Replay replay = eager.replayWithin(*step, limit.bytes, engines);
    trial.bytes = std::max(trial.bytes, replay.statistics.reserved.peak);
    trial.fits = replay.outOfMemory.empty();
    if (trial.fits) continue;
    trial.why = whyNot(*step, replay, engines, row, sources);
    break;
  }
  return trial;
}

}  // namespace tbem::driver
