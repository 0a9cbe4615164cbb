// tbemc fit: the largest level of a factor such that it and all smaller ones fit a memory (FitSearch.h says how it is looked
// for). `--every` tries all levels from 1 on instead.
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/explore/FitSearch.h"
#include "compiler/lower/Lower.h"
#include "compiler/run/OwnLibraries.h"
#include "compiler/show/Out.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace tbem::driver {

namespace {

struct FitOptions : CommandOptions {
  EagerRequest eager;
  EngineRequest engines;
  std::string maxMemory, reserve;
  std::string vary = "batch";
  bool every = false;  ///< every level is tried
};

void declare(OptionList& list, FitOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = fmt::format("{}; pytorch or pytorch-cpu: eager PyTorch on a GPU or here", kOwnBackends)});
  list.add("--max", o.maxMemory,
           "the memory that there is: 22GiB, or a device: h100; with --on pytorch h100:upper counts what may be taken, "
           "h100:reserved what the allocator reserves where it may")
      .type("SIZE")
      .required();
  list.flag("--every", o.every, "try every level from 1 on: certain, and slower");
  addVary(list, o.vary);
  addReserve(list, o.reserve, "with --on pytorch: ");
  addPyTorch(list, o.eager, o.engines,
             {.device = "with --on pytorch: the GPU whose workspaces are counted (default: that of --max): a100, h200, rtx4090, "
                        ".., or a record of the program"});
  addKeepGradients(list, o, "");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const FitOptions& options) { return unheededRows(given, options, {}); }

/// Work (FitSearch.h) of --every, and of an operator that is lowered and planned.
constexpr std::size_t kEveryWork = LevelSearch::kMostWork * 64, kStepWork = 250;

class Fitter {
public:
  Fitter(show::Out& out, State& state, const FitOptions& options, EagerSteps* eager, const FitLimit& limit)
      : out(out), state(state), options(options), eager(eager), limit(limit) {}

  /// False: the factor is none of numbers, or there is none, which was said.
  bool design(DesignRun& run) {
    const std::optional<std::uint32_t> factor = run.spec.find(options.vary);
    if (!factor || !run.spec.factors[*factor].numeric() || run.spec.factors[*factor].parent) {
      out.failure(fmt::format(
          "--vary {}: design `{}` has no factor of whole numbers with this name{}", options.vary, run.spec.name,
          factor ? "" : " (name it in a shape of `--input`, as in image=batch,3,224,224, or in the network of `-e`)"));
      return false;
    }
    report::Table table;
    table.title = fmt::format("the largest {} of {} on {} within {}{}", options.vary, run.spec.name, backendText(), limit.text(),
                              limit.upper      ? ", with each convolution's largest engine too"
                              : limit.reserved ? ", as the allocator reserves where it may"
                                               : "");
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f) {
      if (f != *factor) table.columns.push_back({run.spec.factors[f].name, report::Align::Right});
    }
    table.columns.push_back({options.vary, report::Align::Right});
    table.columns.push_back({"takes", report::Align::Decimal});
    if (onCard()) table.columns.push_back({"none above", report::Align::Right});
    table.columns.push_back({"the next one", report::Align::Left});
    std::set<LevelIndices> seen;
    for (const std::size_t chosen : run.chosen) {
      LevelIndices levels = run.rows[chosen];
      levels[*factor] = 0;
      if (!seen.insert(levels).second) continue;
      VariedRows rows(state, run, levels, *factor);
      const std::size_t mostWork = options.every ? kEveryWork : LevelSearch::kMostWork;
      std::size_t work = 0;
      LevelSearch searcher(
          [&](std::uint64_t level) {
            out.progress(work / kStepWork, mostWork / kStepWork, fmt::format("{} {}", options.vary, level));
            LevelTrial trial = trialOf(run, rows.at(level), level);
            work += trial.exists ? trial.events : LevelSearch::kAbsentWork;
            return trial;
          },
          mostWork);
      refusals.clear();
      const Fit fit = onCard()        ? searchCard(searcher, rows)
                      : options.every ? searcher.searchAll()
                                      : searcher.search(LevelSearch::Below::Tried, limit.bytes);
      out.rest();
      if (!fit.largest && !fit.failing && !fit.workEnded) {
        if (rows.whyAbsent().empty() && !refusals.empty()) {
          refuse(run, refusals.begin()->second);
          absent = true;
          unestimated = true;
          return true;
        }
        for (const Diagnostic& one : rows.whyAbsent()) state.sink().append(one);
        absent = true;
        continue;
      }
      const std::string bound = fit.bound ? boundText(rows, *fit.bound) : "";
      if (fit.workEnded)
        out.note(
            fmt::format("{}: the search ended at its limit of work after {} levels; what was not tried counts as "
                        "not fitting",
                        run.spec.name, searcher.count()));
      none = none || !fit.largest;
      if (options.display.json) {
        printFitJson(run, levels, *factor, searcher, fit, bound);
      } else {
        table.add(cells(run, levels, *factor, searcher, fit, bound));
      }
    }
    if (!options.display.json && !table.rows.empty()) out.ranked(std::move(table));
    return true;
  }

  bool none = false;                    ///< of some row no level fits
  bool absent = false;                  ///< of some row no level exists, which was reported
  bool unestimated = false;             ///< no level of a network can be estimated at all, which was said
  std::uint32_t unknownWorkspaces = 0;  ///< as in estimate::Program, of the level that has most

private:
  bool onCard() const { return eager != nullptr && eager->onCuda(); }

  /// The largest level, and one above which live tensors alone do not fit.
  Fit searchCard(LevelSearch& searcher, VariedRows& rows) {
    using estimate::EagerEngines;
    struct Live {
      std::uint64_t least = 0, counted = 0;
    };
    std::map<std::uint64_t, std::optional<Live>> known;
    const auto liveOf = [&](std::uint64_t level) -> std::optional<Live> {
      const auto [place, isNew] = known.try_emplace(level);
      const graph::Row* row = isNew ? rows.at(level) : nullptr;
      if (row == nullptr) return place->second;
      const auto step = eager->of(*row);
      if (!step) return std::nullopt;  // a trial says why
      const auto peak = [&](EagerEngines engines) { return estimate::eagerPeak(*step, estimate::kEagerBlock, engines).bytes; };
      place->second = Live{peak(EagerEngines::Least), peak(EagerEngines::Expected)};
      if (limit.upper) place->second->counted = std::max(place->second->counted, peak(EagerEngines::Most));
      return place->second;
    };
    const auto bytesOf = [&liveOf](std::uint64_t Live::*which) {
      return [&liveOf, which](std::uint64_t level) -> std::optional<std::uint64_t> {
        const std::optional<Live> live = liveOf(level);
        if (!live) return std::nullopt;
        return (*live).*which;
      };
    };
    Fit fit = options.every ? searcher.searchAll() : searcher.searchWithin(limit.bytes, bytesOf(&Live::counted));
    const std::uint64_t most = largestLive(limit.bytes, bytesOf(&Live::least));
    if (most < LevelSearch::kMostLevel && !fit.bound && !fit.workEnded) fit.most = most;
    return fit;
  }

  /// What ended the estimate of a level that the language accepts: of a number that leaves its range, or of the whole network.
  using Refusal = std::variant<estimate::NoValue, estimate::LowerError>;

  LevelTrial trialOf(const DesignRun& run, const graph::Row* row, std::uint64_t level) {
    if (row == nullptr) return {};
    if (eager == nullptr) return tryLowered(run, *row, level);
    auto trial = tryPyTorch(*row, *eager, limit, state.workspace->session.sources);
    if (trial) return *std::move(trial);
    refusals.emplace(level, trial.error());
    return {};
  }

  void refuse(const DesignRun& run, const Refusal& refusal) {
    if (const auto* value = std::get_if<estimate::NoValue>(&refusal)) {
      out.failure(fmt::format("{}: {}", run.spec.name, value->what));
    } else {
      std::get<estimate::LowerError>(refusal).report(state.sink());
    }
  }

  /// "E0302: `a` needs `l <= 1000`": why a level cannot be built.
  std::string boundText(VariedRows& rows, std::uint64_t level) {
    if (const auto why = rows.whyNot(level)) return renderBrief(*why);
    const auto refusal = refusals.find(level);
    if (refusal == refusals.end()) return "no level above it can be built";
    if (const auto* value = std::get_if<estimate::NoValue>(&refusal->second)) return value->what;
    const auto told = reportsOf(state.sink(), [&] { std::get<estimate::LowerError>(refusal->second).report(state.sink()); });
    return told.empty() ? "it cannot be lowered" : renderBrief(told.front());
  }

  LevelTrial tryLowered(const DesignRun& run, graph::Row row, std::uint64_t level) {
    LevelTrial trial;
    trial.exists = true;
    const estimate::LowerOptions options = lowerOptions(state.events, state.request.target, state.backend, &state.queries, run.tuning);
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
    trial.fits = trial.bytes <= limit.bytes;
    if (!trial.fits) trial.why = fmt::format("the arena takes {}", report::bytes(trial.bytes));
    return trial;
  }

  std::string backendText() const { return state.backendName.empty() ? options.target.backend : state.backendName; }

  std::vector<report::Cell> cells(const DesignRun& run, const LevelIndices& levels, std::uint32_t factor, LevelSearch& searcher,
                                  const Fit& fit, const std::string& bound) const {
    std::vector<report::Cell> result;
    for (std::size_t f = 0; f < levels.size(); ++f) {
      if (f != factor) result.emplace_back(run.spec.factors[f].levels[levels[f]].text);
    }
    result.emplace_back(fit.largest ? std::to_string(*fit.largest) : "none");
    result.emplace_back(fit.largest ? report::bytes(searcher.at(*fit.largest).bytes) : "");
    if (onCard()) result.emplace_back(fit.most ? std::to_string(*fit.most) : "");
    result.emplace_back(fit.failing     ? fmt::format("{}: {}", *fit.failing, searcher.at(*fit.failing).why)
                        : fit.bound     ? fmt::format("bounded: {} cannot be built: {}", *fit.bound, bound)
                        : fit.workEnded ? "not known: the limit of work was reached"
                                        : fmt::format("all up to {} fit", LevelSearch::kMostLevel));
    return result;
  }

  void printFitJson(const DesignRun& run, const LevelIndices& levels, std::uint32_t factor, LevelSearch& searcher, const Fit& fit,
                    const std::string& bound) const {
    Json others = run.levels(levels);
    others.erase(run.spec.factors[factor].name);
    Json fields = {
        {"design", run.spec.name},       {"levels", others},          {"factor", options.vary}, {"backend", backendText()},
        {"limit", limit.bytes},          {"reserve", limit.reserve},  {"upper", limit.upper},   {"largest", nullptr},
        {"none_above", nullptr},         {"memory", nullptr},         {"failing", nullptr},     {"reason", nullptr},
        {"checked_from", nullptr},       {"tried", searcher.count()}, {"bound", nullptr},       {"bounded_by", nullptr},
        {"ended_by_work", fit.workEnded}};
    if (eager == nullptr) fields["unknown_workspaces"] = unknownWorkspaces;
    if (fit.bound) {
      fields["bound"] = *fit.bound;
      fields["bounded_by"] = bound;
    }
    if (fit.most) fields["none_above"] = *fit.most;
    if (fit.largest) {
      fields["largest"] = *fit.largest;
      fields["memory"] = searcher.at(*fit.largest).bytes;
    }
    if (fit.failing) {
      fields["failing"] = *fit.failing;
      fields["reason"] = searcher.at(*fit.failing).why;
      fields["checked_from"] = fit.checkedFrom;
    }
    out.json("fit", std::move(fields));
  }

  show::Out& out;
  State& state;
  const FitOptions& options;
  EagerSteps* eager;
  const FitLimit& limit;
  std::map<std::uint64_t, Refusal> refusals;  ///< by level
};

int run(show::Out& out, const FitOptions& given) {
  FitOptions options = given;
  options.program.varied = options.vary;
  State state(options, out);
  if (const std::string why = wrongLimit(options.maxMemory); !why.empty()) {
    out.failure(fmt::format("--max {}: {}", options.maxMemory, why));
    return kUsage;
  }
  if (const std::string why = wrongReserve(options.reserve, options.target.backend, true); !why.empty()) {
    out.failure(why);
    return kUsage;
  }
  if (options.target.keepGradients && isPyTorch(options.target.backend)) {
    out.failure("--keep-gradients is of a step that is planned, not of --on " + options.target.backend);
    return kUsage;
  }
  if (const Progressed done = runPipeline(out, state, options.stages, "design"); !done.proceed) return done.status;
  const auto limit = readLimit(*state.workspace, options.maxMemory, options.reserve);
  if (!limit) return finish(out, state, limit.error());
  if (options.engines.device.empty() && options.target.backend == "pytorch") options.engines.device = limit->deviceName;
  if (limit->upper && (options.target.backend != "pytorch" || options.engines.device.empty())) {
    out.failure(fmt::format("--max {}: the upper bound is of --on pytorch and a --device, whose engines of convolutions it knows",
                            options.maxMemory));
    return finish(out, state, kUsage);
  }
  if (limit->reserved && options.target.backend != "pytorch") {
    out.failure(fmt::format("--max {}: what an allocator reserves is of --on pytorch", options.maxMemory));
    return finish(out, state, kUsage);
  }
  std::optional<EagerSteps> eager;
  if (isPyTorch(options.target.backend)) {
    auto opened = EagerSteps::open(state, options.target.backend, options.eager, options.engines);
    if (!opened) return finish(out, state, opened.error());
    eager.emplace(std::move(*opened));
    tellLeftOut(state);
  } else if (const auto opened = openBackend(state); !opened) {
    return out.fail(opened.error());
  }
  Fitter fitter(out, state, options, eager ? &*eager : nullptr, *limit);
  bool any = false;
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) continue;
    any = true;
    if (!fitter.design(*run)) return finish(out, state, kUsage);
  }
  if (!any) {
    out.failure("the program has no design of a network: give --input image=batch,3,224,224 (and --task) for its network");
    return finish(out, state, kUsage);
  }
  if (limit->device && !limit->unmeasured.empty() && limit->reserve == 0)
    out.note(fmt::format("not taken off, for nobody measured them on {}: {}", limit->device->name, limit->unmeasured));
  noteUnknownWorkspaces(out, fitter.unknownWorkspaces);
  if (eager) {
    if (const auto kept = eager->finish(out); !kept) return finish(out, state, kept.error());
  }
  if (fitter.unestimated) return finish(out, state, kProgramErrors);
  return finish(out, state, fitter.none && !fitter.absent ? kVerdictAgainst : kOk);
}

}  // namespace

const Command kFit = {"fit", "the largest batch (or level of another factor) that fits a memory; nothing is run", Takes::Program, false,
    invocation<FitOptions, declare, unheeded, run>};

}  // namespace tbem::driver
