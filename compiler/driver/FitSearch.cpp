#include "compiler/driver/FitSearch.h"

#include "compiler/support/Aside.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

constexpr std::uint64_t kLeastChecked = 16, kMostChecked = 256;

std::uint64_t lowerEnd(std::uint64_t bad) { return bad - std::min(bad - 1, std::clamp(bad / 8, kLeastChecked, kMostChecked)); }

}  // namespace

Fit LevelSearch::searchAll() {
  Fit fit;
  fit.checkedFrom = 1;
  std::uint64_t level = 1;
  while (level <= kMostLevel && holds(level)) {
    if (at(level).exists) fit.largest = level;
    ++level;
  }
  if (level <= kMostLevel) fit.failing = level;
  return fit;
}

Fit LevelSearch::search(Below below) {
  std::uint64_t good = 0, bad = 1;  // no level is 0
  while (bad <= kMostLevel && holds(bad)) {
    good = bad;
    bad *= 2;
  }
  Fit fit;
  if (bad > kMostLevel) {
    fit.largest = largestUpTo(good);
    return fit;
  }
  bad = firstBad(good, bad);
  for (std::uint64_t level = bad, end = below == Below::Tried ? lowerEnd(bad) : bad; level-- > end;) {
    if (holds(level)) continue;
    bad = firstBad(0, level);
    level = bad;
    end = lowerEnd(bad);
  }
  fit.failing = bad;
  fit.checkedFrom = below == Below::Tried ? lowerEnd(bad) : bad;
  fit.largest = largestUpTo(bad - 1);
  return fit;
}

const Trial& LevelSearch::at(std::uint64_t level) {
  const auto [place, isNew] = tried.try_emplace(level);
  if (isNew) place->second = tryLevel(level);
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
      reportsOf(state.sink(), [&] { place->second = run.experiment->row(levels); });
    }
  }
  return place->second ? &*place->second : nullptr;
}

tl::expected<Trial, estimate::NoValue> tryPyTorch(const graph::Row& row, EagerSteps& eager, std::uint64_t limit,
                                                  const SourceManager& sources) {
  const auto step = eager.of(row);
  if (!step) return tl::unexpected(step.error());
  Trial trial;
  trial.exists = true;
  if (!eager.onCuda()) {
    trial.bytes = estimate::eagerPeak(*step, 1).bytes;
    trial.fits = trial.bytes <= limit;
    if (!trial.fits) trial.why = fmt::format("live tensors take {}", report::bytes(trial.bytes));
    return trial;
  }
  const estimate::Replay replay = eager.replayWithin(*step, limit);
  trial.bytes = replay.statistics.reserved.peak;
  trial.fits = replay.outOfMemory.empty();
  if (trial.fits) return trial;
  const estimate::EagerTensor& tensor = step->tensors[step->events[replay.outOfMemory.front()].tensor];
  trial.why = fmt::format("out of memory for {} of {}", report::bytes(tensor.bytes()), estimate::eagerKindName(tensor.kind));
  if (tensor.op == estimate::kNoEagerOp) return trial;
  const estimate::EagerOperator& op = step->operators[tensor.op];
  trial.why += fmt::format(" at {}, {}", op.name, sources.describe(row.graph()[op.op].range.begin));
  return trial;
}

}  // namespace tbem::driver
