#include "compiler/budget/Budgets.h"

#include "compiler/budget/Report.h"
#include "compiler/count/Conventions.h"
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/run/PlainRows.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace tbem::driver {

namespace {

bool isWanted(const Budget& budget, const BudgetScope& scope) {
  return budget.place == BudgetPlace::Plan ? scope.plans : budget.place == BudgetPlace::Shapes || scope.pytorch;
}

/// Whether the state has rows of the design: one that has not passed `graph`, or leaves rows out, has none.
bool hasRows(State& state, const DesignRun& run) { return state.rowOf(&run) != nullptr; }

/// The rows of a design, as the graphs of a backend are made: PyTorch's are not those of a plan. A state need not have
/// them: a session's has no rows of which it is known what they have to say.
class ElaboratedRows {
public:
  ElaboratedRows(State& state, DesignRun& run, const std::string& backend, const BudgetScope& scope) : known(&state.rows) {
    const bool isThere = !scope.mostRows && hasRows(state, run) && isPyTorch(state.request.target.backend) == isPyTorch(backend);
    if (isThere) return;
    Target target = state.request.target;
    target.backend = backend;
    experiment = makeExperiment(*state.workspace, run.spec, target);
    // What is wrong with a row was told when the state's own were made.
    reportsOf(state.sink(), [&] {
      for (const std::size_t row : run.chosen) {
        if (own.size() == scope.mostRows) break;
        RowState made;
        made.run = &run;
        made.row = row;
        made.elaborated = experiment->row(run.rows[row]);
        if (made.elaborated) own.push_back(std::move(made));
      }
    });
    known = &own;
  }
  const std::vector<RowState>& all() const { return *known; }

private:
  std::unique_ptr<graph::Experiment> experiment;
  std::vector<RowState> own;
  const std::vector<RowState>* known;
};

/// The budgets of one design.
class DesignBudgets {
public:
  DesignBudgets(State& state, DesignRun& run, const BudgetScope& scope) : state(state), run(run), scope(scope) {}

  /// In the order of the clauses.
  tl::expected<void, Failed> check(std::vector<BudgetVerdict>& verdicts) {
    const auto before = static_cast<std::ptrdiff_t>(verdicts.size());
    std::vector<BudgetVerdict> shapes, placed;
    for (Budget& budget : readBudgets(*state.workspace, run.spec)) {
      if (isWanted(budget, scope)) {
        std::vector<BudgetVerdict>& list = budget.place == BudgetPlace::Shapes ? shapes : placed;
        list.push_back({&run, std::move(budget), {}});
      } else if (!scope.mostRows) {  // an editor is not told: its lines are of what is wrong
        tellNotLookedAt(budget, "`tbemc spec` and `tbemc estimate` do");
      }
    }
    if (!shapes.empty()) fromShapes(shapes);
    std::ranges::move(shapes, std::back_inserter(verdicts));
    for (BudgetVerdict& verdict : placed) {
      if (run.chosen.size() > kMostPlannedForBudgets) {
        tellNotLookedAt(verdict.budget, fmt::format("more than {} rows", kMostPlannedForBudgets));
        continue;
      }
      if (verdict.budget.place == BudgetPlace::Plan) {
        plan(verdict);
      } else if (auto asked = inPyTorch(verdict); !asked) {
        return asked;
      }
      if (verdict.rows.empty()) tellNotLookedAt(verdict.budget, "no row can be built");
      verdicts.push_back(std::move(verdict));
    }
    std::sort(verdicts.begin() + before, verdicts.end(), [](const BudgetVerdict& left, const BudgetVerdict& right) {
      return left.budget.range.begin < right.budget.range.begin;
    });
    return {};
  }

private:
  void tellNotLookedAt(const Budget& budget, std::string_view why) {
    state.events.note(fmt::format("{}: `budget {}` is not looked at: {}", run.spec.name, budget.text, why));
  }

  static void add(BudgetVerdict& verdict, std::size_t row, BudgetValue figure) {
    verdict.rows.push_back({row, figure, verdict.budget.holds(figure.value)});
  }

  /// All of them in one pass over the rows.
  void fromShapes(std::vector<BudgetVerdict>& verdicts) {
    if (!scope.mostRows && !hasRows(state, run)) {
      PlainRows rows(state.sink(), run, estimate::fullConvention());
      bool good = false;
      reportsOf(state.sink(), [&] { good = rows.check(); });  // told where the rows themselves are asked for
      if (!good) {
        for (const BudgetVerdict& verdict : verdicts) tellNotLookedAt(verdict.budget, "rows break their conditions");
        return;
      }
      rows.each([&](std::size_t row, const graph::Graph& graph, estimate::Estimate estimate) {
        estimate.unknownFlops = graph::unknownFlops(graph);
        for (BudgetVerdict& verdict : verdicts) add(verdict, row, valueOf(verdict.budget, estimate));
      });
    } else {
      const ElaboratedRows rows(state, run, "cpu", scope);
      for (const RowState& row : rows.all()) {
        if (row.run != &run) continue;
        const auto estimate = shapesOf(*row.elaborated);
        if (!estimate) continue;
        for (BudgetVerdict& verdict : verdicts) add(verdict, row.row, valueOf(verdict.budget, *estimate));
      }
    }
    for (const BudgetVerdict& verdict : verdicts) {
      const BudgetVerdict::Row* worst = verdict.worst();
      if (worst == nullptr || worst->holds) continue;
      const BudgetTrial trial = [&](const graph::Row& row) -> std::optional<double> {
        const auto estimate = shapesOf(row);
        return estimate ? std::optional(valueOf(verdict.budget, *estimate).value) : std::nullopt;
      };
      const auto row = rowAt(worst->row);
      const auto estimate = row ? shapesOf(*row) : std::nullopt;
      if (!estimate) continue;
      reportBudget(state, run, verdict,
                   {partsOf(verdict.budget, row->structure->graph, row->values, *estimate, nullptr), trial, 0});
    }
  }

  /// Without what a clause `checkpoint` computes again.
  std::optional<estimate::Estimate> shapesOf(const graph::Row& row) {
    auto estimate = estimate::estimateRow(row.structure->graph, row.values, nullptr);
    if (estimate) return std::move(*estimate);
    state.sink().report(diag::row_without_number, estimate.error().range, estimate.error().what);
    return std::nullopt;
  }

  std::optional<graph::Row> rowAt(std::size_t row) {
    std::optional<graph::Row> made;
    reportsOf(state.sink(), [&] { made = run.experiment->row(run.rows[row]); });
    return made;
  }

  void plan(BudgetVerdict& verdict) {
    const ElaboratedRows rows(state, run, verdict.budget.backend, scope);
    RowTable table(rows.all(), state.request.target, state.events);
    const auto planned = [&](std::size_t row) -> const RowState* {
      auto lowered = table.lowered({&run, row, verdict.budget.backend, run.tuning}, false);
      if (lowered) return *lowered;
      lowered.error().report(state.sink());
      return nullptr;
    };
    const auto estimateOf = [](const RowState& row) {
      return estimate::estimateRow(row.elaborated->graph(), row.elaborated->values, &*row.program);
    };
    for (const RowState& row : rows.all()) {
      if (row.run != &run) continue;
      const RowState* const lowered = planned(row.row);
      const auto estimate = lowered != nullptr ? estimateOf(*lowered) : tl::unexpected(estimate::NoValue{});
      if (!estimate) return;  // told
      add(verdict, row.row, valueOf(verdict.budget, *estimate));
    }
    const BudgetVerdict::Row* const worst = verdict.worst();
    if (worst == nullptr || worst->holds) return;
    const RowState* const lowered = planned(worst->row);
    if (lowered == nullptr) return;
    const auto estimate = estimateOf(*lowered);
    if (!estimate) return;
    const Opened& opened = table.backend(verdict.budget.backend);
    const BudgetTrial trial = [&](graph::Row row) -> std::optional<double> {
      const auto program =
          lowerRow(row, run.spec, *opened.backend, lowerOptions(state.events, state.request.target, opened, nullptr, run.tuning));
      if (!program) return std::nullopt;
      const auto other = estimate::estimateRow(row.graph(), row.values, &*program);
      return other ? std::optional(valueOf(verdict.budget, *other).value) : std::nullopt;
    };
    reportBudget(
        state, run, verdict,
        {partsOf(verdict.budget, lowered->elaborated->graph(), lowered->elaborated->values, *estimate, &*lowered->program), trial,
         0});
  }

  tl::expected<void, Failed> inPyTorch(BudgetVerdict& verdict) {
    const ElaboratedRows rows(state, run, verdict.budget.backend, scope);
    EngineRequest engines = scope.engines;
    engines.device = verdict.budget.device;
    auto steps = EagerSteps::open(state, verdict.budget.backend, scope.eager, engines);
    if (!steps) return tl::unexpected(std::move(steps).error());
    std::optional<PyTorchMemory> most;
    for (const RowState& row : rows.all()) {
      if (row.run != &run) continue;
      auto memory = pytorchMemory(row, *steps);
      if (!memory) {
        state.sink().report(diag::row_without_number, memory.error().range, memory.error().what);
        continue;
      }
      add(verdict, row.row, valueOf(verdict.budget, *memory));
      if (verdict.worst()->row == row.row) most = std::move(*memory);
    }
    if (most && !verdict.worst()->holds)
      reportBudget(state, run, verdict, {partsOf(verdict.budget, *most), {}, most->measuredBeside()});
    return steps->finish(state.events);
  }

  State& state;
  DesignRun& run;
  const BudgetScope& scope;
};

}  // namespace

const BudgetVerdict::Row* BudgetVerdict::worst() const {
  const auto most = std::ranges::max_element(rows, {}, [](const Row& row) { return row.figure.value; });
  return most == rows.end() ? nullptr : &*most;
}

const BudgetVerdict::Row* BudgetVerdict::of(std::size_t row) const {
  const auto found = std::ranges::find(rows, row, &Row::row);
  return found == rows.end() ? nullptr : &*found;
}

bool hasBudgets(const DesignRun& run) {
  return run.experiment != nullptr && run.spec.decl != nullptr && !run.spec.decl->budgets.empty();
}

tl::expected<void, Failed> checkBudgets(State& state, DesignRun& run, const BudgetScope& scope,
                                        std::vector<BudgetVerdict>& verdicts) {
  return hasBudgets(run) ? DesignBudgets(state, run, scope).check(verdicts) : tl::expected<void, Failed>{};
}

tl::expected<std::vector<BudgetVerdict>, Failed> checkBudgets(State& state, const BudgetScope& scope) {
  std::vector<BudgetVerdict> verdicts;
  for (const auto& run : state.designs.runs) {
    if (const auto checked = checkBudgets(state, *run, scope, verdicts); !checked) return tl::unexpected(checked.error());
  }
  return verdicts;
}

}  // namespace tbem::driver
