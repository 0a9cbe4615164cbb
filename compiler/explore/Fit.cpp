#include "compiler/explore/Fit.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/explore/Fitter.h"
#include "compiler/lower/Lower.h"
#include "compiler/run/OwnLibraries.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tbem::driver {

namespace {

/// Work (FitSearch.h) of `every`, and of an operator that is lowered and planned.
constexpr std::size_t kEveryWork = LevelSearch::kMostWork * 64, kStepWork = 250;

/// Why the limit is none of these steps; "": it is.
std::string wrongOfSteps(const FitLimit& limit, const FitRequest& request, const EngineRequest& engines, bool inPyTorch) {
  if (limit.upper && (!inPyTorch || engines.device.empty()))
    return fmt::format("--max {}: the upper bound is of --on pytorch and a --device, whose engines of convolutions it knows",
                       request.maxMemory);
  if (limit.reserved && !inPyTorch)
    return fmt::format("--max {}: what an allocator reserves is of --on pytorch", request.maxMemory);
  return {};
}

/// The factor, where its levels can be tried. Errors: why not.
tl::expected<std::uint32_t, Failed> factorOf(const DesignRun& run, const std::string& vary) {
  const std::optional<std::uint32_t> factor = run.spec.find(vary);
  if (factor && run.spec.factors[*factor].numeric() && !run.spec.factors[*factor].parent) return *factor;
  return failed(
      kUsage,
      fmt::format("--vary {}: design `{}` has no factor of whole numbers with this name{}", vary, run.spec.name,
                  factor ? "" : " (name it in a shape of `--input`, as in image=batch,3,224,224, or in the network of `-e`)"));
}

}  // namespace

std::string wrongFit(const FitRequest& request, const Target& target) {
  if (const std::string why = wrongLimit(request.maxMemory); !why.empty())
    return fmt::format("--max {}: {}", request.maxMemory, why);
  if (std::string why = wrongReserve(request.reserve, target.backend, true); !why.empty()) return why;
  if (target.keepGradients && isPyTorch(target.backend))
    return "--keep-gradients is of a step that is planned, not of --on " + target.backend;
  return {};
}

tl::expected<Fitter, Failed> Fitter::open(State& state, const FitRequest& request) {
  auto limit = readLimit(*state.workspace, request.maxMemory, request.reserve);
  if (!limit) return tl::unexpected(std::move(limit).error());
  const std::string& backend = state.request.target.backend;
  EngineRequest engines = request.engines;
  if (engines.device.empty() && backend == "pytorch") engines.device = limit->deviceName;
  if (std::string why = wrongOfSteps(*limit, request, engines, backend == "pytorch"); !why.empty())
    return failed(kUsage, std::move(why));
  Fitter fitter(state, request, std::move(*limit));
  if (!isPyTorch(backend)) {
    if (auto opened = openBackend(state); !opened) return tl::unexpected(std::move(opened).error());
    return fitter;
  }
  auto eager = EagerSteps::open(state, backend, request.eager, engines);
  if (!eager) return tl::unexpected(std::move(eager).error());
  fitter.eager.emplace(std::move(*eager));
  tellLeftOut(state);
  return fitter;
}

tl::expected<FitDesign, Failed> Fitter::fit(DesignRun& run) {
  const auto factor = factorOf(run, wanted.vary);
  if (!factor) return tl::unexpected(factor.error());
  const std::string& backend = state.backendName.empty() ? state.request.target.backend : state.backendName;
  FitDesign design{&run, *factor, backend, inPyTorch(), onCard(), {}, {}};
  std::set<LevelIndices> seen;
  for (const std::size_t chosen : run.chosen) {
    LevelIndices levels = run.rows[chosen];
    levels[*factor] = 0;
    if (!seen.insert(levels).second) continue;
    if (!addRow(design, run, levels)) break;
  }
  return design;
}

/// False: no level of the network can be estimated at all.
bool Fitter::addRow(FitDesign& design, DesignRun& run, const LevelIndices& levels) {
  VariedRows rows(state, run, levels, design.factor);
  const std::size_t mostWork = wanted.every ? kEveryWork : LevelSearch::kMostWork;
  std::size_t work = 0;
  LevelSearch searcher(
      [&](std::uint64_t level) {
        state.events.progress(work / kStepWork, mostWork / kStepWork, fmt::format("{} {}", wanted.vary, level));
        LevelTrial trial = trialOf(run, rows.at(level), level);
        work += trial.exists ? trial.events : LevelSearch::kAbsentWork;
        return trial;
      },
      mostWork);
  refusals.clear();
  FitRow row{levels, search(searcher, rows), 0, {}, {}, searcher.count(), unknownWorkspaces};
  state.events.rest();
  const Fit& fit = row.fit;
  if (!fit.largest && !fit.failing && !fit.workEnded) {
    absent = true;
    if (rows.whyAbsent().empty() && !refusals.empty()) {
      unestimated = true;
      design.refusal = refuse(run, refusals.begin()->second);
      return false;
    }
    for (const Diagnostic& why : rows.whyAbsent()) state.sink().append(why);
    return true;
  }
  if (fit.largest) row.bytes = searcher.at(*fit.largest).bytes;
  if (fit.failing) row.whyFails = searcher.at(*fit.failing).why;
  if (fit.bound) row.whyBound = boundText(rows, *fit.bound);
  if (fit.workEnded)
    state.events.note(
        fmt::format("{}: the search ended at its limit of work after {} levels; what was not tried counts as "
                    "not fitting",
                    run.spec.name, searcher.count()));
  none = none || !fit.largest;
  design.rows.push_back(std::move(row));
  return true;
}

Fit Fitter::search(LevelSearch& searcher, VariedRows& rows) {
  if (onCard()) return searchCard(searcher, rows);
  return wanted.every ? searcher.searchAll() : searcher.search(LevelSearch::Below::Tried, memory.bytes);
}

/// The largest level, and one above which live tensors alone do not fit.
Fit Fitter::searchCard(LevelSearch& searcher, VariedRows& rows) {
  using estimate::EagerEngines;
  struct Live {
    std::uint64_t least = 0;
    std::uint64_t counted = 0;  ///< a level whose live tensors take more is not tried
  };
  std::map<std::uint64_t, std::optional<Live>> known;
  const auto liveOf = [&](std::uint64_t level) -> std::optional<Live> {
    const auto [place, isNew] = known.try_emplace(level);
    const graph::Row* row = isNew ? rows.at(level) : nullptr;
    if (row == nullptr) return place->second;
    const auto step = eager->of(*row);
    if (!step) return std::nullopt;  // a trial says why
    const auto peak = [&](EagerEngines engines) { return estimate::eagerPeak(*step, estimate::kEagerBlock, engines).bytes; };
    place->second = Live{peak(EagerEngines::Least), peak(EagerEngines::Last)};
    if (memory.upper) place->second->counted = std::max(place->second->counted, peak(EagerEngines::Most));
    return place->second;
  };
  const auto bytesOf = [&liveOf](std::uint64_t Live::*which) {
    return [&liveOf, which](std::uint64_t level) -> std::optional<std::uint64_t> {
      const std::optional<Live> live = liveOf(level);
      if (!live) return std::nullopt;
      return (*live).*which;
    };
  };
  Fit fit = wanted.every ? searcher.searchAll() : searcher.searchWithin(memory.bytes, bytesOf(&Live::counted));
  const std::uint64_t most = largestLive(memory.bytes, bytesOf(&Live::least));
  if (most < LevelSearch::kMostLevel && !fit.bound && !fit.workEnded) fit.most = most;
  return fit;
}

LevelTrial Fitter::trialOf(const DesignRun& run, const graph::Row* row, std::uint64_t level) {
  if (row == nullptr) return {};
  if (!eager) return tryLowered(run, *row, level);
  auto trial = tryPyTorch(*row, *eager, memory, state.workspace->session.sources);
  if (trial) return *std::move(trial);
  refusals.emplace(level, trial.error());
  return {};
}

/// The message that is not in the session.
std::string Fitter::refuse(const DesignRun& run, const Refusal& refusal) {
  if (const auto* value = std::get_if<estimate::NoValue>(&refusal)) return fmt::format("{}: {}", run.spec.name, value->what);
  std::get<estimate::LowerError>(refusal).report(state.sink());
  return {};
}

/// "E0302: `a` needs `l <= 1000`": why a level cannot be built.
std::string Fitter::boundText(VariedRows& rows, std::uint64_t level) {
  if (const auto why = rows.whyNot(level)) return renderBrief(*why);
  const auto refusal = refusals.find(level);
  if (refusal == refusals.end()) return "no level above it can be built";
  if (const auto* value = std::get_if<estimate::NoValue>(&refusal->second)) return value->what;
  const auto told = reportsOf(state.sink(), [&] { std::get<estimate::LowerError>(refusal->second).report(state.sink()); });
  return told.empty() ? "it cannot be lowered" : renderBrief(told.front());
}

LevelTrial Fitter::tryLowered(const DesignRun& run, graph::Row row, std::uint64_t level) {
  LevelTrial trial;
  trial.exists = true;
  const estimate::LowerOptions options =
      lowerOptions(state.events, state.request.target, state.backend, &state.queries, run.tuning);
  const auto program = lowerRow(row, run.spec, *state.backend.backend, options);
  if (!program) {
    if (program.error().kind == diag::checkpoint_unmet) {  // a clause `checkpoint auto(under: ...)` is a limit of its own
      trial.fits = false;
      trial.why = fmt::format("with all that can be computed again the arena takes {}", program.error().arguments.back());
      return trial;
    }
    refusals.emplace(level, program.error());
    return {};
  }
  trial.events = program->steps.size() * kStepWork;
  trial.bytes = program->arena;
  unknownWorkspaces = std::max(unknownWorkspaces, program->unknownWorkspaces());
  trial.fits = trial.bytes <= memory.bytes;
  if (!trial.fits) trial.why = fmt::format("the arena takes {}", report::bytes(trial.bytes));
  return trial;
}

tl::expected<void, Failed> Fitter::finish() {
  if (memory.device && !memory.unmeasured.empty() && memory.reserve == 0)
    state.events.note(fmt::format("not taken off, for nobody measured them on {}: {}", memory.device->name, memory.unmeasured));
  noteUnknownWorkspaces(state.events, unknownWorkspaces);
  if (!eager) return {};
  return eager->finish(state.events);
}

FitAnswers fitDesigns(State& state, const FitRequest& request) {
  FitAnswers answers;
  answers.vary = request.vary;
  const auto end = [&](Failed why) {
    answers.ended = tl::unexpected(std::move(why));
    return std::move(answers);
  };
  auto fitter = Fitter::open(state, request);
  if (!fitter) return end(std::move(fitter).error());
  answers.limit = fitter->limit();
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) continue;
    auto design = fitter->fit(*run);
    if (!design) return end(std::move(design).error());
    answers.designs.push_back(std::move(*design));
  }
  if (answers.designs.empty()) return end({kUsage, {kNoNetwork}});
  if (auto kept = fitter->finish(); !kept) return end(std::move(kept).error());
  answers.verdict = fitter->verdict();
  return answers;
}

}  // namespace tbem::driver
