// Budgets held against the rows of a program's designs. A broken one is told in the session: which row breaks it by how much,
// what most of that is, and which levels hold.
#pragma once

#include "compiler/budget/Clauses.h"
#include "compiler/budget/Values.h"
#include "compiler/devices/EngineRequest.h"
#include "compiler/pytorch/rows/EagerRequest.h"
#include "compiler/run/State.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace tbem::driver {

/// Which of the budgets are looked at, and how.
struct BudgetScope {
  bool plans = false;    ///< those of plans: milliseconds a row
  bool pytorch = false;  ///< those in PyTorch: a row may take seconds, and cuDNN may be asked
  EagerRequest eager;
  EngineRequest engines;                ///< the device is the budget's
  std::optional<std::size_t> mostRows;  ///< of a design, its first; nothing: all
};

/// A budget and its rows.
struct BudgetVerdict {
  struct Row {
    std::size_t row = 0;
    BudgetValue figure;
    bool holds = true;
  };
  const DesignRun* run = nullptr;
  Budget budget;
  std::vector<Row> rows;  ///< in order; those without a figure are left out, which was told

  /// Of `rows`, the one that takes most; nullptr: there is none.
  const Row* worst() const;
  const Row* of(std::size_t row) const;
};

/// Rows that are planned for budgets, at most.
inline constexpr std::size_t kMostPlannedForBudgets = 1000;

/// Whether a design has any.
bool hasBudgets(const DesignRun& run);
/// Adds the verdicts of one design of a state that has passed `design`; rows that `graph` made are used. What is broken or wrong
/// goes to the session. Errors: PyTorch cannot be asked.
tl::expected<void, Failed> checkBudgets(State& state, DesignRun& run, const BudgetScope& scope,
                                        std::vector<BudgetVerdict>& verdicts);
/// The same of all designs.
tl::expected<std::vector<BudgetVerdict>, Failed> checkBudgets(State& state, const BudgetScope& scope);

}  // namespace tbem::driver
