// tbemc run, measure, regress, predict: the commands that have to do with measured rows.
#include "compiler/diagnostics/Aside.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/commands/Estimate.h"
#include "compiler/driver/commands/Train.h"
#include "compiler/experiment/Observations.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/show/Out.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/rows/DesignReport.h"
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

/// What the program declares beyond designs, read and checked.
struct Declared {
  std::vector<MeasurePlan> measures;
  std::vector<RegressionPlan> regressions;
  Predictions predictions;
};

Declared readDeclared(State& state, const Options& options) {
  Declared declared;
  declared.measures = readMeasures(*state.workspace, state.designs,
                                   {.backend = options.target.backend,
                                    .tune = options.target.tune,
                                    .repeat = options.campaign.repeat,
                                    .declaredOnly = options.command == "run"});
  declared.regressions = readRegressions(*state.workspace, state.designs);
  declared.predictions = readPredictions(*state.workspace, declared.regressions, options.point);
  refuseLaterDeclarations(*state.workspace);
  return declared;
}

int evaluateStored(show::Out& out, State& state, const Options& options, const Declared& declared, const std::vector<CaseRow>& rows,
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
  if (steps.regress) printFitted(out, fits, options.brief());
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
void printUnmeasured(show::Out& out, State& state, const Options& options, const Declared& declared) {
  for (const auto& run : state.designs.runs) {
    if (isMeasured(declared, *run)) continue;
    const bool estimated = run->experiment != nullptr;
    if (estimated) printEstimate(out, state, options, *run, true);
    printDesign(out, *run, {.rows = !estimated});
  }
  for (const auto& training : state.trainings) {
    printEstimate(out, state, options, *training->step, true);
    printTrainingCost(out, state, *training, *estimate::findConvention(options.convention));
  }
}

/// The rest of it, once the measured rows are printed.
void printMeasuredNotes(show::Out& out, State& state, const Options& options, const Declared& declared) {
  for (const auto& run : state.designs.runs) {
    if (!isMeasured(declared, *run)) continue;
    printEstimate(out, state, options, *run, false);
    printDesign(out, *run, {.rows = false});
  }
}

bool anyStored(store::Store& store, const std::vector<CaseRow>& rows) {
  const auto stored = StoredRows::read(store, rows);
  return stored && std::ranges::any_of(rows, [&](const CaseRow& row) { return !stored->repeatsOf(row).empty(); });
}

/// The rows of a page: where the store has none of this run's number of threads, those of another number that it has.
std::vector<CaseRow> storedRows(show::Out& out, State& state, const Options& options, const Declared& declared, std::vector<CaseRow> rows) {
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
int measureRows(show::Out& out, State& state, const Options& options, RowTable& table, const Declared& declared,
                const std::vector<CaseRow>& rows, const StoreFile& file) {
  // Rows are printed once, when they are measured; what is known of them is told before that takes its time.
  CampaignView view(out, declared.measures, rows, options.command == "measure" || options.brief());
  const auto outcome = runCampaigns(view, {*state.workspace, rows, file}, table, options, options.campaign);
  if (!outcome) return out.fail(outcome.error());
  if (out.display.json) {
    printReused(out, outcome->stored, rows, outcome->result);
    printMeasured(out, outcome->stored, rows);
  } else if (options.brief()) {
    printRunTables(out, outcome->stored, declared.measures, rows);
  } else {
    printMeasurements(out, outcome->stored, declared.measures, rows);
  }
  noteCampaign(out, outcome->result, file);
  return outcome->verdict ? static_cast<int>(kOk) : out.fail(outcome->verdict.error());
}

/// The measured part of a program: its exit status.
int measureAndFit(show::Out& out, State& state, const Options& options, RowTable& table, const Declared& declared, const std::vector<CaseRow>& rows,
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
  if (steps.measure) status = measureRows(out, state, options, table, declared, rows, file);
  if (steps.designs && options.brief()) printMeasuredNotes(out, state, options, declared);
  if (status == kInterrupted || status == kEnvironment) return status;
  return worse(status, evaluateStored(out, state, options, declared, rows, file, steps));
}

int runSteps(show::Out& out, const Options& options, const Steps& steps) {
  if (!options.target.backend.empty()) {
    if (const Opened asked = openBackend(options.target.backend); !asked.known) {  // else its rows are skipped, for want of it
      out.failure(fmt::format("backend {}: {}", options.target.backend, asked.reason));
      return kUsage;
    }
  }
  if (steps.measure) {
    if (const auto ready = foldersReady(options.campaign.store, options.out); !ready) return out.fail(ready.error());
  }
  State state(options, out);
  state.timing = steps.measure && !options.campaign.dryRun;
  if (const Progressed done = runPipeline(out, state, options.stages, steps.estimates ? "lower" : "graph"); !done.proceed) return done.status;
  const Declared declared = readDeclared(state, options);
  if (!declared.predictions.usage.empty()) return finish(out, state, Failed{kUsage, {declared.predictions.usage}});
  if (state.sink().hasErrors()) return finish(out, state, kOk);
  RowTable table(state.rows, options.target, state.events);
  std::vector<CaseRow> rows = caseRows(table, state.sink(), declared.measures, options.target, state.timing);
  if (state.sink().hasErrors()) return finish(out, state, kOk);
  if (steps.stored) rows = storedRows(out, state, options, declared, std::move(rows));
  if (steps.designs && !options.campaign.dryRun && options.brief()) {
    printUnmeasured(out, state, options, declared);
  } else {
    if (steps.designs && !options.campaign.dryRun) printDesigns(out, state);
    if (steps.estimates && !options.campaign.dryRun) printEstimates(out, state, options);
  }
  const int status = measureAndFit(out, state, options, table, declared, rows, steps);
  const bool trains = steps.train && !options.campaign.dryRun && status != kInterrupted && status != kEnvironment;
  return finish(out, state, trains ? worse(status, runTrainings(out, state, options)) : status);
}

}  // namespace

int runMeasure(show::Out& out, const Options& options) { return runSteps(out, options, {.measure = true}); }
int runRegress(show::Out& out, const Options& options) { return runSteps(out, options, {.regress = true, .plots = true}); }
int runPredict(show::Out& out, const Options& options) { return runSteps(out, options, {.predict = true}); }

int reportStored(show::Out& out, const Options& options) {
  return runSteps(out, options, {.regress = true, .plots = true, .stored = true});
}

int runProgram(show::Out& out, const Options& options) {
  return runSteps(
      out, options,
      {.designs = true, .estimates = true, .measure = true, .regress = true, .predict = true, .plots = true, .train = true});
}

}  // namespace tbem::driver
