// tbemc run, measure, regress, predict: the commands that have to do with measured rows.
#include "compiler/driver/commands/Measure.h"
#include "compiler/budget/Budgets.h"
#include "compiler/count/Conventions.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/driver/commands/Perturb.h"
#include "compiler/experiment/Observations.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/run/Measured.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/CampaignView.h"
#include "compiler/show/measured/MeasureNotes.h"
#include "compiler/show/measured/MeasureReport.h"
#include "compiler/show/measured/Plots.h"
#include "compiler/show/measured/PredictionReport.h"
#include "compiler/show/measured/RegressionReport.h"
#include "compiler/show/measured/TrainReport.h"
#include "compiler/show/rows/DesignReport.h"
#include "compiler/show/rows/EstimateReport.h"

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

/// A later failure does not hide an earlier one.
int worse(int a, int b) { return a != kOk ? a : b; }

bool isMeasured(const Measured& measured, const DesignRun& run) {
  return std::any_of(measured.plans.begin(), measured.plans.end(), [&](const MeasurePlan& plan) { return plan.run == &run; });
}

/// Designs and estimates of a run that prints each row once: here those of designs that nothing measures.
void printUnmeasured(show::Out& out, State& state, const MeasureOptions& options, const Steps& steps, const Measured& measured) {
  for (const auto& run : state.designs.runs) {
    if (isMeasured(measured, *run)) continue;
    const bool estimated = run->experiment != nullptr;
    if (estimated) printEstimate(out, state, viewOf(options, steps), *run, true);
    printDesign(out, *run, {.rows = !estimated});
  }
  for (const auto& training : state.trainings) {
    printEstimate(out, state, viewOf(options, steps), *training->step, true);
    printTrainingCost(out, state, *training, estimate::fullConvention());
  }
}

/// The rest of it, once the measured rows are printed.
void printMeasuredNotes(show::Out& out, State& state, const MeasureOptions& options, const Steps& steps,
                        const Measured& measured) {
  for (const auto& run : state.designs.runs) {
    if (!isMeasured(measured, *run)) continue;
    printEstimate(out, state, viewOf(options, steps), *run, false);
    printDesign(out, *run, {.rows = false});
  }
}

/// A command on its way through the measured part of a program.
class MeasuredPart {
public:
  MeasuredPart(show::Out& out, PipelineState& state, const MeasureOptions& options, const Steps& steps)
      : out(out), state(state), measured(state.measured), options(options), steps(steps), view(options.stages) {
    view.mayRun = steps.measure && !options.campaign.dryRun;
    view.silent = view.ahead = true;
  }

  /// Of a state that may have done nothing yet. The exit status, once nothing more is to be done; diagnostics are left.
  int run() {
    if (const auto status = pass(steps.estimates ? "lower" : "graph")) return *status;
    if (steps.measure && breaksBudgets()) return kProgramErrors;
    const int status = runMeasured();
    // What is to be printed need not have been on the way.
    const std::string& printAfter = options.stages.printAfter;
    if (ended || printAfter.empty() || status == kInterrupted) return status;
    return worse(status, pass(printAfter).value_or(kOk));
  }
  /// Of a state that has passed `graph`.
  int runMeasured() {
    if (const auto status = pass("cases")) return *status;
    const std::vector<unsigned> ownThreads = threadsOf(measured.rows);
    if (const unsigned threads = steps.stored ? takeOtherThreads(state) : 0; threads != 0)
      out.say("measured with {} thread{}; this run has {}\n", threads, threads == 1 ? "" : "s", fmt::join(ownThreads, ", "));
    const bool dry = options.campaign.dryRun;
    if (steps.designs && !dry && isBrief(options, steps)) {
      printUnmeasured(out, state, options, steps, measured);
    } else {
      if (steps.designs && !dry) printDesigns(out, state);
      if (steps.estimates && !dry) printEstimates(out, state, viewOf(options, steps));
    }
    const int status = measureAndFit();
    if (ended || !steps.train || dry || status == kInterrupted || status == kEnvironment) return status;
    return worse(status, runTrainingsAndPerturbations(out, state, view, false));
  }

private:
  /// Whether a row takes more than its design allows, but for what PyTorch would take. Nothing is measured then.
  bool breaksBudgets() {
    const auto budgets = checkBudgets(state, {.plans = true, .pytorch = false, .eager = {}, .engines = {}});
    ended = !budgets || state.sink().hasErrors();
    return ended;
  }
  /// Runs the stages up to this one. The exit status where the command ends with it.
  std::optional<int> pass(std::string_view stage) {
    const Progressed done = runPipeline(out, state, view, stage);
    if (done.proceed) return std::nullopt;
    ended = true;
    return done.status;
  }

  /// The measured part alone.
  int measureAndFit() {
    if (const auto problem = wrong()) return out.fail(*problem);
    if (measured.plans.empty() && measured.elsewhere.empty()) return kOk;
    if (options.campaign.dryRun) {
      const auto outlook = outlookOf(measured.rows, *measured.file, options.campaign);
      if (!outlook) return out.fail(outlook.error());
      printOutlook(out, *outlook, measured.plans.size(), *measured.file);
      return kOk;
    }
    int status = kOk;
    if (steps.measure && !measured.plans.empty()) {
      status = measureRows();
      if (ended) return status;
    }
    if (steps.designs && isBrief(options, steps)) printMeasuredNotes(out, state, options, steps, measured);
    if (status == kInterrupted || status == kEnvironment) return status;
    return worse(status, showFits());
  }

  /// Why there is nothing to do.
  std::optional<Failed> wrong() const {
    // A run of designs alone measures nothing; beside rows, regressions may be missing.
    auto nothing = nothingMeasured(measured);
    if (nothing && steps.designs && nothing->status == kUsage) return std::nullopt;
    if (nothing || steps.designs || steps.stored) return nothing;
    if (steps.regress && measured.regressions.empty()) return Failed{kUsage, {"the program has no `regress`"}};
    if (steps.predict && measured.predictions.plans.empty())
      return Failed{kUsage, {"the program has no `predict`: give a point, --at LEVELS, or declare one"}};
    return std::nullopt;
  }

  /// The trainings whose weights rows are run over examples with. The exit status where the command ends with them.
  std::optional<int> trainFirst() {
    if (!runsOverExamples(measured)) return std::nullopt;
    if (const auto status = pass("lower")) return *status;
    TrainReport listener(out, state.backendName);
    state.listener = &listener;
    const auto trained = trainMeasured(state);
    state.listener = nullptr;
    if (!trained) {
      ended = true;
      return out.fail(trained.error());
    }
    for (const Trained& one : state.trained) {
      if (!one.outcome && !steps.train) learned = worse(learned, out.fail(one.outcome.error()));  // else told with the others
    }
    return std::nullopt;
  }

  /// Runs the campaigns and shows what they came to.
  int measureRows() {
    if (const auto status = trainFirst()) return *status;
    // Rows are printed once, when they are measured; what is known of them is told before that takes its time.
    CampaignView listener(out, measured.plans, measured.rows, !steps.designs || isBrief(options, steps));
    state.listener = &listener;
    const std::optional<int> status = pass("measure");
    state.listener = nullptr;
    if (status) return *status;
    if (out.display.json) {
      printReused(out, *measured.stored, measured.rows, *measured.campaign);
      printMeasured(out, *measured.stored, measured.rows);
    } else if (isBrief(options, steps)) {
      printRunTables(out, *measured.stored, measured.plans, measured.rows);
    } else {
      printMeasurements(out, *measured.stored, measured.plans, measured.rows);
    }
    noteCampaign(out, *measured.campaign, *measured.file);
    return worse(learned, measured.verdict ? static_cast<int>(kOk) : out.fail(measured.verdict.error()));
  }

  /// What the store has, and what regressions make of it. A regression that is refused does not hide the others.
  int showFits() {
    const bool wantsFit = (steps.regress || steps.predict) && !measured.regressions.empty();
    if (!wantsFit && !steps.plots && !steps.stored) return kOk;
    if (const auto status = pass("stored")) return *status;
    if (steps.stored) printMeasurements(out, *measured.stored, measured.plans, measured.rows);
    if (wantsFit) {
      if (const auto status = pass("regress")) return *status;
    }
    if (steps.regress) {
      printFitted(out, measured.fits, isBrief(options, steps));
      printComparisons(out, measured.comparisons);
    }
    if (wantsFit && steps.predict) {
      if (const auto status = pass("predict")) return *status;
      printPredictions(out, measured.predicted);
    }
    const std::string plots = steps.plots && !options.noPlots ? outFolder(*state.workspace, options.out) : std::string();
    return writePlots(out, measured.plans, measured.rows, measured.fits, *measured.stored, plots) ? kOk : kEnvironment;
  }

  show::Out& out;
  PipelineState& state;
  Measured& measured;
  const MeasureOptions& options;
  const Steps& steps;
  PipelineView view;
  int learned = kOk;   ///< how the trainings ended that rows are measured with
  bool ended = false;  ///< --emit has printed its stage, or a stage has failed
};

int runSteps(show::Out& out, const MeasureOptions& given, const Steps& steps) {
  MeasureOptions options = given;
  if (!options.target.backend.empty()) {
    const auto asked = foreign::askedBy(options.target.backend);
    if (!asked) {
      const Opened opened = openBackend(options.target.backend);
      out.failure(fmt::format("backend {}: {}", options.target.backend, opened.known ? asked.error() : opened.reason));
      return kUsage;
    }
    // What is estimated is planned for one backend of our own; others are of the campaign alone.
    if (asked->size() > 1 || asked->front().foreign) options.campaign.on = std::exchange(options.target.backend, {});
  }
  if (steps.measure) {
    if (const auto ready = foldersReady(options.campaign.store, options.out); !ready) return out.fail(ready.error());
  }
  if (options.campaign.dryRun) options.target.ownCode = Target::OwnCode::Closed;
  options.campaign.declaredOnly = steps.designs;
  options.training = {options.out, options.campaign.fresh};
  PipelineState state(options, out);
  state.timing = steps.measure && !options.campaign.dryRun;
  return finish(out, state, MeasuredPart(out, state, options, steps).run());
}

constexpr const char* kMeasured = "the seed with which rows were measured (default: 0)";
constexpr const char* kSeed = "seed of inputs, weights and the order of rows (default: 0)";

void declareRun(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kProgramBackends});
  addStore(list, o.campaign.store);
  addPython(list, o.campaign.python);
  list.add("--out", o.out, "folder for plots and checkpoints (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, kSeed);
  addCampaign(list, o.campaign, "run finished rows, trainings and perturbations anew");
  list.flag("--no-plots", o.noPlots, "write no plots");
  list.flag("--verbose", o.display.verbose,
            "every table and every column, whatever the width: also memory by kind, and coefficients in the factors' units");
  addDisplay(list, o);
}

void declareMeasure(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kProgramBackends});
  addStore(list, o.campaign.store);
  addPython(list, o.campaign.python);
  list.add("--out", o.out, "folder for checkpoints of trainings that rows need (default: NAME.out beside the program)")
      .type("DIR");
  addSeed(list, o, kSeed);
  addCampaign(list, o.campaign, "run finished rows, and trainings that they need, anew");
  addDisplay(list, o);
}

void declareRegress(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kProgramBackends});
  addStore(list, o.campaign.store);
  addPython(list, o.campaign.python);
  list.add("--out", o.out, "folder for plots (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, kMeasured);
  addDisplay(list, o);
}

void declarePredict(OptionList& list, MeasureOptions& o) {
  addProgram(list, o);
  addRows(list, o,
          {.at = "predict at this point, instead of the program's: depth=16,batch=64",
           .point = &o.campaign.predictAt,
           .on = kProgramBackends});
  addStore(list, o.campaign.store);
  addPython(list, o.campaign.python);
  addSeed(list, o, kMeasured);
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const MeasureOptions& options) {
  if (std::string why = unheededRows(given, options, {}); !why.empty()) return why;
  return levelTwice(options.campaign.predictAt);
}

int runProgram(show::Out& out, const MeasureOptions& options) {
  return runSteps(
      out, options,
      {.designs = true, .estimates = true, .measure = true, .regress = true, .predict = true, .plots = true, .train = true});
}
int runMeasure(show::Out& out, const MeasureOptions& options) { return runSteps(out, options, {.measure = true}); }
int runRegress(show::Out& out, const MeasureOptions& options) { return runSteps(out, options, {.regress = true, .plots = true}); }
int runPredict(show::Out& out, const MeasureOptions& options) { return runSteps(out, options, {.predict = true}); }

}  // namespace

int showStored(show::Out& out, PipelineState& state, const MeasureOptions& options) {
  const Steps steps{.regress = true, .plots = true, .stored = true};
  return MeasuredPart(out, state, options, steps).runMeasured();
}

const Command kRun = {"run", "run the whole program: check, design, estimate, measure, regress, predict, train, perturb",
                      Takes::Program, true, invocation<MeasureOptions, declareRun, unheeded, runProgram>};
const Command kMeasure = {"measure", "run the rows that are not finished yet, each in a fresh process", Takes::Program, true,
                          invocation<MeasureOptions, declareMeasure, unheeded, runMeasure>};
const Command kRegress = {"regress", "fit the program's regressions to what was measured", Takes::Program, false,
                          invocation<MeasureOptions, declareRegress, unheeded, runRegress>};
const Command kPredict = {"predict", "evaluate the program's predictions", Takes::Program, false,
                          invocation<MeasureOptions, declarePredict, unheeded, runPredict>};

}  // namespace tbem::driver
