// tbemc run, measure, regress, predict: the commands that have to do with measured rows.
#include "compiler/diagnostics/Aside.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/commands/Train.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/Observations.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/Page.h"
#include "compiler/show/Reports.h"
#include "compiler/show/rows/MeasureReport.h"
#include "compiler/show/rows/TrainReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

/// How far a command goes.
struct Steps {
  bool designs = false, estimates = false, measure = false, regress = false, predict = false, plots = false, train = false;
};

/// What the program declares beyond designs, read and checked.
struct Declared {
  std::vector<MeasurePlan> measures;
  std::vector<RegressionPlan> regressions;
  Predictions predictions;
};

Declared readDeclared(State& state) {
  Declared declared;
  declared.measures = readMeasures(*state.workspace, state.designs, state.options);
  declared.regressions = readRegressions(*state.workspace, state.designs);
  declared.predictions = readPredictions(*state.workspace, declared.regressions, state.options);
  refuseLaterDeclarations(*state.workspace);
  return declared;
}

int evaluateStored(State& state, const Declared& declared, const std::vector<CaseRow>& rows, const StoreFile& file,
                   const Steps& steps) {
  const bool wantsFit = (steps.regress || steps.predict) && !declared.regressions.empty();
  if (!wantsFit && !steps.plots && openPage() == nullptr) return kOk;
  if (!file.exists()) {
    printFailure(fmt::format("{} is not there: nothing is measured yet (tbemc measure)", file.path()));
    return kEnvironment;
  }
  auto store = store::Store::open(file.path(), store::Mode::ReadOnly);
  if (!store) {
    printFailure(store.error().message);
    return kEnvironment;
  }
  if (openPage() != nullptr) printMeasurements(*store, declared.measures, rows, state.options);
  std::vector<Fitted> fits;
  if (wantsFit) fits = fitRegressions(*state.workspace, declared.regressions, rows, *store);
  if (steps.regress) printFitted(fits, state.options);
  if (steps.predict) printPredictions(*state.workspace, declared.predictions.plans, fits, state.options);
  if (steps.plots && !writePlots(*state.workspace, declared.measures, rows, fits, *store, state.options)) return kEnvironment;
  return kOk;
}

/// A later failure does not hide an earlier one.
int worse(int a, int b) { return a != kOk ? a : b; }

bool isMeasured(const Declared& declared, const DesignRun& run) {
  return std::any_of(declared.measures.begin(), declared.measures.end(),
                     [&](const MeasurePlan& plan) { return plan.run == &run; });
}

/// Designs and estimates of a run that prints each row once: here those of designs that nothing measures.
void printUnmeasured(State& state, const Declared& declared) {
  for (const auto& run : state.designs.runs) {
    if (isMeasured(declared, *run)) continue;
    const bool estimated = run->experiment != nullptr;
    if (estimated) printEstimate(state, *run, true);
    printDesign(state, *run, {.rows = !estimated});
  }
  for (const auto& training : state.trainings) {
    printEstimate(state, *training->step, true);
    printTrainingCost(state, *training);
  }
}

/// The rest of it, once the measured rows are printed.
void printMeasuredNotes(State& state, const Declared& declared) {
  for (const auto& run : state.designs.runs) {
    if (!isMeasured(declared, *run)) continue;
    printEstimate(state, *run, false);
    printDesign(state, *run, {.rows = false});
  }
}

bool anyStored(store::Store& store, const std::vector<CaseRow>& rows) {
  return std::ranges::any_of(rows, [&](const CaseRow& row) { return !repeatsOf(store, row).empty(); });
}

/// The rows of a page: where the store has none of this run's number of threads, those of another number that it has.
std::vector<CaseRow> storedRows(State& state, const Declared& declared, std::vector<CaseRow> rows) {
  const StoreFile file(*state.workspace, state.options);
  if (!file.exists()) return rows;
  auto store = store::Store::open(file.path(), store::Mode::ReadOnly);
  if (!store || anyStored(*store, rows)) return rows;  // what is wrong with the store is told by who reads it
  for (const unsigned threads : threadsMeasured(*store, rows)) {
    Options others = state.options;
    others.threads = threads;
    std::vector<CaseRow> tried;
    const auto reports = reportsOf(state.sink(), [&] { tried = caseRows(*state.workspace, declared.measures, others, false); });
    const bool failed = std::ranges::any_of(reports, [](const Diagnostic& one) { return one.severity == Severity::Error; });
    if (failed || !anyStored(*store, tried)) continue;
    say("measured with {} thread{}; this run has {}\n", threads, threads == 1 ? "" : "s", fmt::join(threadsOf(rows), ", "));
    return tried;
  }
  return rows;
}

/// The measured part of a program: its exit status.
int measureAndFit(State& state, const Declared& declared, const std::vector<CaseRow>& rows, const Steps& steps) {
  const StoreFile file(*state.workspace, state.options);
  if (!file.problem().empty()) {
    printFailure(file.problem());
    return kEnvironment;
  }
  if (declared.measures.empty()) {
    if (steps.designs) return kOk;
    printFailure("there is nothing to measure: the program has no `measure`, and no design of a network");
    return kUsage;
  }
  const bool showsRows = steps.designs || openPage() != nullptr;  // beside which regressions may be missing
  if (steps.regress && !showsRows && declared.regressions.empty()) {
    printFailure("the program has no `regress`");
    return kUsage;
  }
  if (steps.predict && !showsRows && declared.predictions.plans.empty()) {
    printFailure("the program has no `predict`: give a point, --at LEVELS, or declare one");
    return kUsage;
  }
  if (state.options.dryRun) return describeCampaigns(declared.measures, rows, file, state.options);
  int status = kOk;
  if (steps.measure) status = runCampaigns(*state.workspace, declared.measures, rows, file, state.options);
  if (steps.designs && state.options.brief()) printMeasuredNotes(state, declared);
  if (status == kInterrupted || status == kEnvironment) return status;
  return worse(status, evaluateStored(state, declared, rows, file, steps));
}

int runSteps(const Options& options, const Steps& steps) {
  if (!options.backend.empty()) {
    if (const Opened asked = openBackend(options.backend); !asked.known) {  // else its rows are skipped, for want of it
      printFailure(fmt::format("backend {}: {}", options.backend, asked.reason));
      return kUsage;
    }
  }
  if (steps.measure && !foldersReady(options)) return kEnvironment;
  State state(options);
  state.timing = steps.measure && !options.dryRun;
  if (const Progressed done = runPipeline(state, steps.estimates ? "lower" : "graph"); !done.proceed) return done.status;
  const Declared declared = readDeclared(state);
  if (declared.predictions.usage) return finish(state, kUsage);
  if (state.sink().hasErrors()) return finish(state, kOk);
  std::vector<CaseRow> rows = caseRows(*state.workspace, declared.measures, options, state.timing);
  if (state.sink().hasErrors()) return finish(state, kOk);
  if (openPage() != nullptr) rows = storedRows(state, declared, std::move(rows));
  if (steps.designs && !options.dryRun && options.brief()) {
    printUnmeasured(state, declared);
  } else {
    if (steps.designs && !options.dryRun) printDesigns(state);
    if (steps.estimates && !options.dryRun) printEstimates(state);
  }
  const int status = measureAndFit(state, declared, rows, steps);
  const bool trains = steps.train && !options.dryRun && status != kInterrupted && status != kEnvironment;
  return finish(state, trains ? worse(status, runTrainings(state)) : status);
}

}  // namespace

int runMeasure(const Options& options) { return runSteps(options, {.measure = true}); }
int runRegress(const Options& options) { return runSteps(options, {.regress = true, .plots = true}); }
int runPredict(const Options& options) { return runSteps(options, {.predict = true}); }

int runProgram(const Options& options) {
  return runSteps(
      options,
      {.designs = true, .estimates = true, .measure = true, .regress = true, .predict = true, .plots = true, .train = true});
}

}  // namespace tbem::driver
