// tbemc run, measure, regress, predict: the commands that have to do with measured rows.
#include "compiler/diagnostics/Aside.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/commands/Measure.h"
#include "compiler/driver/commands/Train.h"
#include "compiler/experiment/Observations.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/show/Out.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/rows/DesignReport.h"
#include "compiler/show/rows/EstimateReport.h"
#include "compiler/show/rows/CampaignView.h"
#include "compiler/show/rows/MeasureNotes.h"
#include "compiler/show/rows/MeasureReport.h"
#include "compiler/show/rows/Plots.h"
#include "compiler/show/rows/PredictionReport.h"
#include "compiler/show/rows/RegressionReport.h"
#include "compiler/show/rows/TrainReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

/// How far a command goes.
struct Steps {
  bool designs = false, estimates = false, measure = false, regress = false, predict = false, plots = false, train = false;
  bool stored = false;  ///< what the store holds, whatever was measured with: a page shows it
};

/// Whether a run prints each row once: its other tables are those of --verbose.
bool isBrief(const MeasureOptions& options, const Steps& steps) {
  return steps.designs && !options.display.verbose && !options.display.json;
}

EstimateView viewOf(const MeasureOptions& options, const Steps& steps) {
  EstimateView view;
  view.folder = options.out;
  view.brief = isBrief(options, steps);
  return view;
}

/// What the program declares beyond designs, read and checked.
struct Declared {
  std::vector<MeasurePlan> measures;
  std::vector<RegressionPlan> regressions;
  Predictions predictions;
};

Declared readDeclared(State& state, const MeasureOptions& options, const Steps& steps) {
  Declared declared;
  declared.measures = readMeasures(*state.workspace, state.designs,
                                   {.backend = options.target.backend,
                                    .tune = options.target.tune,
                                    .repeat = options.campaign.repeat,
                                    .declaredOnly = steps.designs});
  declared.regressions = readRegressions(*state.workspace, state.designs);
  declared.predictions = readPredictions(*state.workspace, declared.regressions, options.point);
  refuseLaterDeclarations(*state.workspace);
  return declared;
}

int evaluateStored(show::Out& out, State& state, const MeasureOptions& options, const Declared& declared, const std::vector<CaseRow>& rows,
                   const StoreFile& file, const Steps& steps) {
  const bool wantsFit = (steps.regress || steps.predict) && !declared.regressions.empty();
  if (!wantsFit && !steps.plots && !steps.stored) return kOk;
  if (!file.exists()) {
    out.failure(fmt::format("{} is not there: nothing is measured yet (tbemc measure)", file.path()));
    return kEnvironment;
  }
  auto store = store::Store::open(file.path(), store::Mode::ReadOnly);
  if (!store) {
    out.failure(store.error().message);
    return kEnvironment;
  }
  const auto stored = StoredRows::read(*store, rows);
  if (!stored) return out.fail(stored.error());
  if (steps.stored) printMeasurements(out, *stored, declared.measures, rows);
  std::vector<Fitted> fits;
  if (wantsFit) fits = fitRegressions(*state.workspace, declared.regressions, rows, *stored, *store);
  if (steps.regress) printFitted(out, fits, isBrief(options, steps));
  if (steps.predict) printPredictions(out, *state.workspace, declared.predictions.plans, fits);
  const std::string plots = steps.plots && !options.noPlots ? outFolder(*state.workspace, options.out) : std::string();
  if (!writePlots(out, declared.measures, rows, fits, *stored, plots)) return kEnvironment;
  return kOk;
}

/// A later failure does not hide an earlier one.
int worse(int a, int b) { return a != kOk ? a : b; }

bool isMeasured(const Declared& declared, const DesignRun& run) {
  return std::any_of(declared.measures.begin(), declared.measures.end(),
                     [&](const MeasurePlan& plan) { return plan.run == &run; });
}

/// Designs and estimates of a run that prints each row once: here those of designs that nothing measures.
void printUnmeasured(show::Out& out, State& state, const MeasureOptions& options, const Steps& steps,
                     const Declared& declared) {
  for (const auto& run : state.designs.runs) {
    if (isMeasured(declared, *run)) continue;
    const bool estimated = run->experiment != nullptr;
    if (estimated) printEstimate(out, state, viewOf(options, steps), *run, true);
    printDesign(out, *run, {.rows = !estimated});
  }
  for (const auto& training : state.trainings) {
    printEstimate(out, state, viewOf(options, steps), *training->step, true);
    printTrainingCost(out, state, *training, estimate::conventions().front());
  }
}

/// The rest of it, once the measured rows are printed.
void printMeasuredNotes(show::Out& out, State& state, const MeasureOptions& options, const Steps& steps,
                     const Declared& declared) {
  for (const auto& run : state.designs.runs) {
    if (!isMeasured(declared, *run)) continue;
    printEstimate(out, state, viewOf(options, steps), *run, false);
    printDesign(out, *run, {.rows = false});
  }
}

bool anyStored(store::Store& store, const std::vector<CaseRow>& rows) {
  const auto stored = StoredRows::read(store, rows);
  return stored && std::ranges::any_of(rows, [&](const CaseRow& row) { return !stored->repeatsOf(row).empty(); });
}

/// The rows of a page: where the store has none of this run's number of threads, those of another number that it has.
std::vector<CaseRow> storedRows(show::Out& out, State& state, const MeasureOptions& options, const Declared& declared, std::vector<CaseRow> rows) {
  const StoreFile file(*state.workspace, options.campaign.store);
  if (!file.exists()) return rows;
  auto store = store::Store::open(file.path(), store::Mode::ReadOnly);
  if (!store || anyStored(*store, rows)) return rows;  // what is wrong with the store is told by who reads it
  for (const unsigned threads : threadsMeasured(*store, rows)) {
    Target others = options.target;
    others.threads = threads;
    std::vector<CaseRow> tried;
    RowTable table(state.rows, others, state.events);
    const auto reports =
        reportsOf(state.sink(), [&] { tried = caseRows(table, state.sink(), declared.measures, others, false); });
    const bool failed = std::ranges::any_of(reports, [](const Diagnostic& one) { return one.severity == Severity::Error; });
    if (failed || !anyStored(*store, tried)) continue;
    out.say("measured with {} thread{}; this run has {}\n", threads, threads == 1 ? "" : "s", fmt::join(threadsOf(rows), ", "));
    return tried;
  }
  return rows;
}

/// Runs the campaigns and shows what they came to; the exit status.
int measureRows(show::Out& out, State& state, const MeasureOptions& options, const Steps& steps, RowTable& table,
                const Declared& declared, const std::vector<CaseRow>& rows, const StoreFile& file) {
  // Rows are printed once, when they are measured; what is known of them is told before that takes its time.
  CampaignView view(out, declared.measures, rows, !steps.designs || isBrief(options, steps));
  const auto outcome = runCampaigns(view, {*state.workspace, rows, file}, table, options, options.campaign);
  if (!outcome) return out.fail(outcome.error());
  if (out.display.json) {
    printReused(out, outcome->stored, rows, outcome->result);
    printMeasured(out, outcome->stored, rows);
  } else if (isBrief(options, steps)) {
    printRunTables(out, outcome->stored, declared.measures, rows);
  } else {
    printMeasurements(out, outcome->stored, declared.measures, rows);
  }
  noteCampaign(out, outcome->result, file);
  return outcome->verdict ? static_cast<int>(kOk) : out.fail(outcome->verdict.error());
}

/// The measured part of a program: its exit status.
int measureAndFit(show::Out& out, State& state, const MeasureOptions& options, RowTable& table, const Declared& declared, const std::vector<CaseRow>& rows,
                  const Steps& steps) {
  const StoreFile file(*state.workspace, options.campaign.store);
  if (!file.problem().empty()) {
    out.failure(file.problem());
    return kEnvironment;
  }
  if (declared.measures.empty()) {
    if (steps.designs) return kOk;
    out.failure("there is nothing to measure: the program has no `measure`, and no design of a network");
    return kUsage;
  }
  const bool showsRows = steps.designs || steps.stored;  // beside which regressions may be missing
  if (steps.regress && !showsRows && declared.regressions.empty()) {
    out.failure("the program has no `regress`");
    return kUsage;
  }
  if (steps.predict && !showsRows && declared.predictions.plans.empty()) {
    out.failure("the program has no `predict`: give a point, --at LEVELS, or declare one");
    return kUsage;
  }
  if (options.campaign.dryRun) {
    printOutlook(out, outlookOf(rows), declared.measures.size(), file);
    return kOk;
  }
  int status = kOk;
  if (steps.measure) status = measureRows(out, state, options, steps, table, declared, rows, file);
  if (steps.designs && isBrief(options, steps)) printMeasuredNotes(out, state, options, steps, declared);
  if (status == kInterrupted || status == kEnvironment) return status;
  return worse(status, evaluateStored(out, state, options, declared, rows, file, steps));
}

/// What a program declares beyond designs, of a state that has passed `graph`, and `lower` where estimates are shown. The exit
/// status.
int showSteps(show::Out& out, State& state, const MeasureOptions& options, const Steps& steps) {
  const Declared declared = readDeclared(state, options, steps);
  if (!declared.predictions.usage.empty()) return out.fail(Failed{kUsage, {declared.predictions.usage}});
  if (state.sink().hasErrors()) return kOk;
  const Target& target = state.request.target;
  RowTable table(state.rows, target, state.events);
  std::vector<CaseRow> rows = caseRows(table, state.sink(), declared.measures, target, state.timing);
  if (state.sink().hasErrors()) return kOk;
  if (steps.stored) rows = storedRows(out, state, options, declared, std::move(rows));
  if (steps.designs && !options.campaign.dryRun && isBrief(options, steps)) {
    printUnmeasured(out, state, options, steps, declared);
  } else {
    if (steps.designs && !options.campaign.dryRun) printDesigns(out, state);
    if (steps.estimates && !options.campaign.dryRun) printEstimates(out, state, viewOf(options, steps));
  }
  const int status = measureAndFit(out, state, options, table, declared, rows, steps);
  const bool trains = steps.train && !options.campaign.dryRun && status != kInterrupted && status != kEnvironment;
  return trains ? worse(status, runTrainings(out, state, {options.out, options.campaign.fresh})) : status;
}

int runSteps(show::Out& out, const MeasureOptions& options, const Steps& steps) {
  if (!options.target.backend.empty()) {
    if (const Opened asked = openBackend(options.target.backend); !asked.known) {  // else its rows are skipped, for want of it
      out.failure(fmt::format("backend {}: {}", options.target.backend, asked.reason));
      return kUsage;
    }
  }
  if (steps.measure) {
    if (const auto ready = foldersReady(options.campaign.store, options.out); !ready) return out.fail(ready.error());
  }
  Request request = options;
  if (options.campaign.dryRun) request.target.ownCode = Target::OwnCode::Closed;
  State state(request, out);
  state.timing = steps.measure && !options.campaign.dryRun;
  const char* const last = steps.estimates ? "lower" : "graph";
  if (const Progressed done = runPipeline(out, state, options.stages, last); !done.proceed) return done.status;
  return finish(out, state, showSteps(out, state, options, steps));
}

constexpr const char* kMeasured = "the seed with which rows were measured (default: 0)";
constexpr const char* kSeed = "seed of inputs, weights and the order of rows (default: 0)";

void declareRun(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kProgramBackends});
  addStore(list, o.campaign.store);
  list.add("--out", o.out, "folder for plots and checkpoints (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, kSeed);
  addCampaign(list, o.campaign, "run finished rows and trainings anew");
  list.flag("--no-plots", o.noPlots, "write no plots");
  list.flag("--verbose", o.display.verbose,
            "every table and every column, whatever the width: also memory by kind, and coefficients in the factors' units");
  addDisplay(list, o);
}

void declareMeasure(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kProgramBackends});
  addStore(list, o.campaign.store);
  addSeed(list, o, kSeed);
  addCampaign(list, o.campaign, "run finished rows anew");
  addDisplay(list, o);
}

void declareRegress(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kProgramBackends});
  addStore(list, o.campaign.store);
  list.add("--out", o.out, "folder for plots (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, kMeasured);
  addDisplay(list, o);
}

void declarePredict(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o,
          {.at = "predict at this point, instead of the program's: depth=16,batch=64", .point = &o.point, .on = kProgramBackends});
  addStore(list, o.campaign.store);
  addSeed(list, o, kMeasured);
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const MeasureOptions& options) {
  if (std::string why = unheededRows(given, options, {}); !why.empty()) return why;
  return levelTwice(options.point);
}

int runProgram(show::Out& out, const MeasureOptions& options) {
  return runSteps(
      out, options,
      {.designs = true, .estimates = true, .measure = true, .regress = true, .predict = true, .plots = true, .train = true});
}
int runMeasure(show::Out& out, const MeasureOptions& options) { return runSteps(out, options, {.measure = true}); }
int runRegress(show::Out& out, const MeasureOptions& options) {
  return runSteps(out, options, {.regress = true, .plots = true});
}
int runPredict(show::Out& out, const MeasureOptions& options) { return runSteps(out, options, {.predict = true}); }

}  // namespace

int showStored(show::Out& out, State& state, const MeasureOptions& options) {
  return showSteps(out, state, options, {.regress = true, .plots = true, .stored = true});
}

const Command kRun = {"run", "run the whole program: check, design, estimate, measure, regress, predict, train", Takes::Program,
                      true, invocation<MeasureOptions, declareRun, unheeded, runProgram>};
const Command kMeasure = {"measure", "run the rows that are not finished yet, each in a fresh process", Takes::Program, true,
                          invocation<MeasureOptions, declareMeasure, unheeded, runMeasure>};
const Command kRegress = {"regress", "fit the program's regressions to what was measured", Takes::Program, false,
                          invocation<MeasureOptions, declareRegress, unheeded, runRegress>};
const Command kPredict = {"predict", "evaluate the program's predictions", Takes::Program, false,
                          invocation<MeasureOptions, declarePredict, unheeded, runPredict>};

}  // namespace tbem::driver
