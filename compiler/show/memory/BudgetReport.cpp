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
    const Budget& budget = verdict.budget;
    const double left = budget.limit - worst->figure.value;
    const bool isOver = left < 0;
    out.say("budget {}: {}{} in row {}, which takes most; {} {} ({})\n", budget.text, worst->figure.atLeast ? "at least " : "",
            textOf(budget.unit, worst->figure.value), worst->row + 1, textOf(budget.unit, isOver ? -left : left),
            isOver ? "too much" : "left", report::percent(marginOf(budget, worst->figure)));
  }
}

Json budgetsJson(const BudgetVerdicts& verdicts, const DesignRun& run, std::size_t row) {
  Json list = Json::array();
  for (const BudgetVerdict& verdict : verdicts) {
    const BudgetVerdict::Row* const known = verdict.run == &run ? verdict.of(row) : nullptr;
    if (known == nullptr) continue;
    const Budget& budget = verdict.budget;
    list.push_back({{"budget", budget.text},
                    {"quantity", budget.quantity},
                    {"on", budget.place == BudgetPlace::Shapes ? Json(nullptr) : Json(whereOf(budget))},
                    {"limit", numberOf(budget.limit)},
                    {"value", numberOf(known->figure.value)},
                    {"at_least", known->figure.atLeast},
                    {"holds", known->holds},
                    {"row", row}});
  }
  return list;
}

}  // namespace tbem::driver
