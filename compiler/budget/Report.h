// A broken budget as a diagnostic. Internal to this folder.
#pragma once

#include "compiler/budget/Budgets.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tbem::driver {

/// The quantity at other levels of a design; nothing where it has none there.
using BudgetTrial = std::function<std::optional<double>(const graph::Row& row)>;

/// What is known of the row that takes most.
struct BudgetBreach {
  std::vector<BudgetPart> parts;  ///< largest first
  BudgetTrial trial;              ///< empty: too slow to be tried
  std::uint64_t beside = 0;       ///< bytes of the figure that `fit` does not count
};

/// Tells that the row of `verdict` that takes most breaks the budget.
void reportBudget(State& state, DesignRun& run, const BudgetVerdict& verdict, const BudgetBreach& breach);

}  // namespace tbem::driver
