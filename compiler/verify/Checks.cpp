#include "compiler/verify/Checks.h"

#include "compiler/budget/Budgets.h"
#include "compiler/count/Conventions.h"
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/run/PlainRows.h"
#include "compiler/run/examples/RunExamples.h"
#include "compiler/support/Bug.h"
#include "compiler/verify/CheckNetworks.h"
#include "compiler/verify/KeptAnswers.h"
#include "compiler/verify/LevelProofs.h"
#include "compiler/verify/Specs.h"

#include <algorithm>

namespace tbem::driver {

namespace {
/// More rows than these are not kept once they were looked at.
constexpr std::size_t kMostKept = 10'000;

/// What a run would refuse of elements that nothing computes with yet: told once for each design, at its first row that has them.
void warnOfTypes(State& state) {
  const std::string backend = state.request.target.dtype == "f64" ? "ref" : "cpu";
  const DesignRun* told = nullptr;
  const graph::Graph* fine = nullptr;  // of the row before: most rows of a design have one graph
  for (RowState& row : state.rows) {
    if (row.run == told || &row.elaborated->graph() == fine) continue;
    if (hasLoopTypes(row)) {
      fine = &row.elaborated->graph();
      continue;
    }
    const Opened opened = openBackend(state.request, backend);
    if (opened.backend == nullptr) return;
    const auto lowered = lowerRow(*row.elaborated, row.run->spec, *opened.backend,
                                  lowerOptions(state.events, state.request.target, opened, nullptr, row.run->tuning));
    if (lowered) continue;
    told = row.run;
    const auto refused = reportsOf(state.sink(), [&] { lowered.error().report(state.sink()); });
    state.sink()
        .report(diag::cannot_run, refused.front().range, row.run->spec.name, refused.front().message)
        .note("`estimate --on pytorch` and `--on none` know what it takes");
  }
}

/// Rows of a design whose budgets are looked at while somebody types.
constexpr std::size_t kMostRowsTyping = 64;

/// While somebody types, plans are left to the command: they take milliseconds a row.
void checkBudgets(State& state) {
  KeptAnswers* const kept = state.keptAnswers;
  BudgetScope scope;
  scope.plans = kept == nullptr;
  if (kept != nullptr) scope.mostRows = kMostRowsTyping;
  for (const auto& run : state.designs.runs) {
    if (!hasBudgets(*run)) continue;
    const auto look = [&] {
      std::vector<BudgetVerdict> verdicts;
      TBEM_CHECK(checkBudgets(state, *run, scope, verdicts).has_value());  // PyTorch is not asked
      return true;
    };
    if (kept != nullptr)
      kept->look({CheckedPart::Budgets, run->spec.decl, rowsText(*run)}, state.sink(), look);
    else
      look();
  }
}

/// The conditions of every row, where the pipeline left the rows out.
bool checkPlainRows(State& state) {
  bool good = true;
  for (const auto& run : state.designs.runs) {
    if (run->experiment != nullptr) good = PlainRows(state.sink(), *run, estimate::fullConvention()).check() && good;
  }
  return good;
}
}  // namespace

void leaveManyRows(State& state) { state.plainAbove = kMostKept; }

void checkBeyondGraphs(State& state) {
  if (state.plain() && !checkPlainRows(state)) return;
  Request declared = state.request;
  declared.campaign.declaredOnly = true;
  std::vector<MeasurePlan> measures = readMeasures(*state.workspace, state.designs, state.trainings, declared);
  checkExamples(*state.workspace, state.request.target, measures, state.rows);
  const std::vector<RegressionPlan> regressions = readRegressions(*state.workspace, state.designs);
  readPredictions(*state.workspace, regressions, "");
  refuseLaterDeclarations(*state.workspace);
  warnOfTypes(state);
  checkBudgets(state);
  checkNetworks(state);
  checkProcesses(state);
  proveDesigns(state, kFewStructures);
}

}  // namespace tbem::driver
