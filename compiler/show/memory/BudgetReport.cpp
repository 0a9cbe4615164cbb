#include "compiler/show/memory/BudgetReport.h"

#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace tbem::driver {

namespace {
/// What a figure leaves of the limit, as a share of it.
double marginOf(const Budget& budget, const BudgetValue& figure) { return (budget.limit - figure.value) / budget.limit; }

/// "at least 5.170 GiB in row 1, which takes most; 16.83 GiB left (76.5 %)".
std::string worstText(const BudgetVerdict& verdict, const BudgetVerdict::Row& worst) {
  const Budget& budget = verdict.budget;
  const double left = budget.limit - worst.figure.value;
  const bool isOver = left < 0;
  const std::string row = verdict.rows.size() == 1 ? "" : fmt::format(" in row {}, which takes most", worst.row + 1);
  return fmt::format("{}{}{}; {} {} ({})", worst.figure.atLeast ? "at least " : "", textOf(budget.unit, worst.figure.value), row,
                     textOf(budget.unit, isOver ? -left : left), isOver ? "too much" : "left",
                     report::percent(marginOf(budget, worst.figure)));
}

/// Parameters, bytes and FLOPs are whole numbers, but for limits.
Json numberOf(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53: whole numbers below it are exact
  const bool isWhole = std::abs(value) < kExact && std::trunc(value) == value;
  return isWhole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

std::string whereOf(const Budget& budget) {
  if (budget.place != BudgetPlace::PyTorch) return budget.backend;
  return fmt::format("pytorch({})", budget.device.empty() ? "cpu" : budget.device);
}
Json budgetJson(const Budget& budget, const BudgetVerdict::Row& row) {
  return {{"budget", budget.text},
          {"quantity", budget.quantity},
          {"on", budget.place == BudgetPlace::Shapes ? Json(nullptr) : Json(whereOf(budget))},
          {"limit", numberOf(budget.limit)},
          {"value", numberOf(row.figure.value)},
          {"at_least", row.figure.atLeast},
          {"holds", row.holds},
          {"row", row.row}};
}
}  // namespace

bool hasBudgets(const BudgetVerdicts& verdicts, const DesignRun& run) {
  return std::ranges::any_of(verdicts, [&](const BudgetVerdict& verdict) { return verdict.run == &run; });
}

std::string marginText(const BudgetVerdicts& verdicts, const DesignRun& run, std::size_t row) {
  std::optional<double> least;
  for (const BudgetVerdict& verdict : verdicts) {
    const BudgetVerdict::Row* const known = verdict.run == &run ? verdict.of(row) : nullptr;
    if (known == nullptr) continue;
    const double margin = marginOf(verdict.budget, known->figure);
    least = std::min(least.value_or(margin), margin);
  }
  return least ? report::percent(*least) : "";
}

void sayBudgets(show::Out& out, const BudgetVerdicts& verdicts, const DesignRun& run) {
  for (const BudgetVerdict& verdict : verdicts) {
    const BudgetVerdict::Row* const worst = verdict.run == &run ? verdict.worst() : nullptr;
    if (worst == nullptr) continue;
    out.say("budget {}: {}\n", verdict.budget.text, worstText(verdict, *worst));
  }
}

void printBudgets(show::Out& out, const SourceManager& sources, const BudgetVerdicts& verdicts) {
  for (const BudgetVerdict& verdict : verdicts) {
    const BudgetVerdict::Row* const worst = verdict.worst();
    if (worst == nullptr) continue;
    if (!out.display.json) {
      out.say("budget of {}: {}: {}: {}\n", verdict.run->spec.name, verdict.budget.text, worst->holds ? "kept" : "broken",
              worstText(verdict, *worst));
      continue;
    }
    Json object = {{"design", verdict.run->spec.name},
                   {"budget", verdict.budget.text},
                   {"file", sources.find(verdict.budget.range.begin)->name},
                   {"line", sources.lineColumn(verdict.budget.range.begin).line}};
    object.update(budgetJson(verdict.budget, *worst));
    object["levels"] = verdict.run->levels(worst->row);
    out.json("budget", std::move(object));
  }
}

Json budgetsJson(const BudgetVerdicts& verdicts, const DesignRun& run, std::size_t row) {
  Json list = Json::array();
  for (const BudgetVerdict& verdict : verdicts) {
    const BudgetVerdict::Row* const known = verdict.run == &run ? verdict.of(row) : nullptr;
    if (known == nullptr) continue;
    list.push_back(budgetJson(verdict.budget, *known));
  }
  return list;
}

}  // namespace tbem::driver
