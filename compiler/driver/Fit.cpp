// tbemc fit: the largest level of a factor such that it and all smaller ones fit a memory.
//
// What a row takes need not grow with every level: an allocator's segments, and a library's workspaces, come in steps. So a first
// level that does not fit is looked for by doubling and halving, and then every level down from it is tried, an eighth of the way
// (16 to 256 of them); where one of those does not fit it takes the first one's place. Levels at which a condition of the
// program does not hold are passed over.
// `--every` tries all from 1 on instead.
#include "compiler/driver/Commands.h"
#include "compiler/driver/PyTorchEstimate.h"
#include "compiler/estimate/Lower.h"
#include "compiler/support/Aside.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tbem::driver {

namespace {

constexpr std::uint64_t kMostLevel = std::uint64_t{1} << 24U;
constexpr std::uint64_t kLeastChecked = 16, kMostChecked = 256;

/// What a level takes.
struct Trial {
  bool exists = false;  ///< its conditions hold
  bool fits = true;
  std::uint64_t bytes = 0;
  std::string why;  ///< it does not fit: where
};

struct Fit {
  std::optional<std::uint64_t> largest;  ///< none: the least level that exists does not fit, or none exists
  std::optional<std::uint64_t> failing;  ///< the first that does not fit; none up to kMostLevel
  std::uint64_t checkedFrom = 0;         ///< every level from here on was tried
};

class Searcher {
public:
  Searcher(State& state, EagerSteps* eager, DesignRun& run, LevelIndices levels, std::uint32_t factor, std::uint64_t limit)
      : state(state), eager(eager), run(run), levels(std::move(levels)), factor(factor), limit(limit) {}

  /// Every level from 1 on, until one does not fit.
  Fit searchAll() {
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

  Fit search() {
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
    for (std::uint64_t level = bad, end = lowerEnd(bad); level-- > end;) {
      if (holds(level)) continue;
      bad = firstBad(0, level);
      level = bad;
      end = lowerEnd(bad);
    }
    fit.failing = bad;
    fit.checkedFrom = lowerEnd(bad);
    fit.largest = largestUpTo(bad - 1);
    return fit;
  }

  const Trial& at(std::uint64_t level) {
    const auto [place, isNew] = tried.try_emplace(level);
    if (isNew) place->second = trialOf(level);
    return place->second;
  }
  std::size_t count() const { return tried.size(); }

private:
  bool holds(std::uint64_t level) { return at(level).fits; }

  static std::uint64_t lowerEnd(std::uint64_t bad) {
    return bad - std::min(bad - 1, std::clamp(bad / 8, kLeastChecked, kMostChecked));
  }

  /// A level that does not fit whose predecessor does, between one that does and one that does not.
  std::uint64_t firstBad(std::uint64_t good, std::uint64_t bad) {
    while (bad - good > 1) {
      const std::uint64_t middle = good + (bad - good) / 2;
      (middle == 0 || holds(middle) ? good : bad) = middle;
    }
    return bad;
  }

  std::optional<std::uint64_t> largestUpTo(std::uint64_t level) {
    for (std::uint64_t left = kMostChecked; level > 0 && left > 0; --level, --left) {
      if (at(level).exists) return level;
    }
    return std::nullopt;
  }

  Trial trialOf(std::uint64_t level) {
    Trial trial;
    const auto index = levelOf(run.spec, run.spec.factors[factor], std::to_string(level));
    if (!index) return trial;
    levels[factor] = *index;
    std::optional<graph::Row> row;
    reportsOf(state.sink(), [&] { row = run.experiment->row(levels); });
    if (!row) return trial;
    trial.exists = true;
    if (eager != nullptr) {
      tryPyTorch(*row, trial);
    } else {
      tryLowered(*row, trial);
    }
    return trial;
  }

  void tryPyTorch(const graph::Row& row, Trial& trial) {
    const auto step = eager->of(row);
    if (!step) {
      refuse(step.error().what);
      return;
    }
    if (!eager->onCuda()) {
      trial.bytes = estimate::eagerPeak(*step, 1).bytes;
      trial.fits = trial.bytes <= limit;
      if (!trial.fits) trial.why = fmt::format("live tensors take {}", report::bytes(trial.bytes));
      return;
    }
    estimate::CardMemory card;
    card.capacity = card.total = limit;
    const estimate::Replay replay = estimate::replay(estimate::allocatorEvents(*step), {}, card);
    trial.bytes = replay.statistics.reserved.peak;
    trial.fits = replay.outOfMemory.empty();
    if (trial.fits) return;
    const estimate::EagerTensor& tensor = step->tensors[step->events[replay.outOfMemory.front()].tensor];
    trial.why = fmt::format("out of memory for {} of {}", report::bytes(tensor.bytes), estimate::eagerKindName(tensor.kind));
    if (tensor.op == estimate::kNoEagerOp) return;
    const estimate::EagerOperator& op = step->operators[tensor.op];
    trial.why += fmt::format(" at {}, {}", op.name, state.workspace->session.sources.describe(row.graph()[op.op].range.begin));
  }

  void tryLowered(const graph::Row& row, Trial& trial) {
    const estimate::LowerOptions options = lowerOptions(state.options, state.backend, &state.queries);
    const auto program = estimate::lower(row.graph(), row.values, *state.backend.backend, options);
    if (!program) {
      if (!refused) program.error().report(state.sink());
      refused = true;
      return;
    }
    trial.bytes = program->arena;
    trial.fits = trial.bytes <= limit;
    if (!trial.fits) trial.why = fmt::format("the arena takes {}", report::bytes(trial.bytes));
  }

  void refuse(const std::string& why) {
    if (!refused) printFailure(fmt::format("{}: {}", run.spec.name, why));
    refused = true;
  }

public:
  bool refused = false;  ///< the network cannot be estimated at all, which was said

private:
  State& state;
  EagerSteps* eager;  ///< null for a backend of ours
  DesignRun& run;
  LevelIndices levels;
  std::uint32_t factor;
  std::uint64_t limit;
  std::map<std::uint64_t, Trial> tried;
};

class Fitter {
public:
  Fitter(State& state, EagerSteps* eager, std::uint64_t limit)
      : state(state), options(state.options), eager(eager), limit(limit) {}

  /// False: the factor is none of numbers, or there is none, which was said.
  bool design(DesignRun& run) {
    const std::optional<std::uint32_t> factor = run.spec.find(options.vary);
    if (!factor || !run.spec.factors[*factor].numeric() || run.spec.factors[*factor].parent) {
      printFailure(fmt::format("--vary {}: design `{}` has no factor of whole numbers with this name{}", options.vary,
                               run.spec.name,
                               factor ? "" : " (of `-e` and `--input`: name it in the shape, --input image=batch,3,224,224)"));
      return false;
    }
    report::Table table;
    table.title =
        fmt::format("the largest {} of {} on {} within {}", options.vary, run.spec.name, backendText(), report::bytes(limit));
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f) {
      if (f != *factor) table.columns.push_back({run.spec.factors[f].name, report::Align::Right});
    }
    table.columns.push_back({options.vary, report::Align::Right});
    table.columns.push_back({"takes", report::Align::Decimal});
    table.columns.push_back({"the next one", report::Align::Left});
    std::set<LevelIndices> seen;
    for (const std::size_t chosen : run.chosen) {
      LevelIndices levels = run.rows[chosen];
      levels[*factor] = 0;
      if (!seen.insert(levels).second) continue;
      Searcher searcher(state, eager, run, levels, *factor, limit);
      const Fit fit = options.every ? searcher.searchAll() : searcher.search();
      if (searcher.refused) return true;
      none = none || !fit.largest;
      if (options.json) {
        printFitJson(run, levels, *factor, searcher, fit);
      } else {
        table.add(cells(run, levels, *factor, searcher, fit));
      }
    }
    if (!options.json) printTable(options, table);
    return true;
  }

  bool none = false;  ///< of some row no level fits

private:
  std::string backendText() const { return state.backendName.empty() ? options.backend : state.backendName; }

  std::vector<report::Cell> cells(const DesignRun& run, const LevelIndices& levels, std::uint32_t factor, Searcher& searcher,
                                  const Fit& fit) const {
    std::vector<report::Cell> result;
    for (std::size_t f = 0; f < levels.size(); ++f) {
      if (f != factor) result.emplace_back(run.spec.factors[f].levels[levels[f]].text);
    }
    result.emplace_back(fit.largest ? std::to_string(*fit.largest) : "none");
    result.emplace_back(fit.largest ? report::bytes(searcher.at(*fit.largest).bytes) : "");
    result.emplace_back(fit.failing ? fmt::format("{}: {}", *fit.failing, searcher.at(*fit.failing).why)
                                    : fmt::format("all up to {} fit", kMostLevel));
    return result;
  }

  void printFitJson(const DesignRun& run, const LevelIndices& levels, std::uint32_t factor, Searcher& searcher,
                    const Fit& fit) const {
    Json others = Json::object();
    for (std::size_t f = 0; f < levels.size(); ++f) {
      if (f != factor) others[run.spec.factors[f].name] = run.spec.factors[f].levels[levels[f]].text;
    }
    Json fields = {{"design", run.spec.name}, {"levels", others},        {"factor", options.vary},   {"backend", backendText()},
                   {"limit", limit},          {"largest", nullptr},      {"memory", nullptr},        {"failing", nullptr},
                   {"reason", nullptr},       {"checked_from", nullptr}, {"tried", searcher.count()}};
    if (fit.largest) {
      fields["largest"] = *fit.largest;
      fields["memory"] = searcher.at(*fit.largest).bytes;
    }
    if (fit.failing) {
      fields["failing"] = *fit.failing;
      fields["reason"] = searcher.at(*fit.failing).why;
      fields["checked_from"] = fit.checkedFrom;
    }
    printJson("fit", std::move(fields));
  }

  State& state;
  const Options& options;
  EagerSteps* eager;
  std::uint64_t limit;
};

}  // namespace

int runFit(const Options& options) {
  const auto limit = report::parseBytes(options.maxMemory);
  if (!limit) {
    printFailure(fmt::format("--max {}: {}", options.maxMemory, limit.error()));
    return kUsage;
  }
  State state(options);
  if (const Progressed done = runPipeline(state, "design"); !done.proceed) return done.status;
  std::optional<EagerSteps> eager;
  if (isPyTorch(options.backend)) {
    auto opened = EagerSteps::open(state);
    if (!opened) return finish(state, opened.error());
    eager.emplace(std::move(*opened));
  } else if (const int status = openBackend(state); status != kOk) {
    return status;
  }
  Fitter fitter(state, eager ? &*eager : nullptr, *limit);
  bool any = false;
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) continue;
    any = true;
    if (!fitter.design(*run)) return finish(state, kUsage);
  }
  if (!any) {
    printFailure("the program has no design of a network: give --input image=batch,3,224,224 (and --task) for its network");
    return finish(state, kUsage);
  }
  if (eager) {
    if (const int status = eager->finish(options); status != kOk) return finish(state, status);
  }
  return finish(state, fitter.none ? kVerdictAgainst : kOk);
}

}  // namespace tbem::driver
