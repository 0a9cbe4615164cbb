// How estimates are shown: a line of JSON a row, or a table a design, and where the row that takes most has its memory.
#pragma once

#include "compiler/explore/FitLimit.h"
#include "compiler/run/State.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/BudgetReport.h"

#include <cstddef>
#include <optional>
#include <string>

namespace tbem::driver {

/// Rows in all up to which each is lowered where no backend is asked for: planning takes milliseconds a row.
inline constexpr std::size_t kMostLowered = 1000;

struct EstimateView {
  std::string convention = "full";  ///< of counting FLOPs: the name of one of estimate::conventions()
  std::string gates;                ///< "0.3", "PATH=0.3,..": how likely gates' conditions are met; "": not asked
  std::string roofline;             ///< the device of least times; "": none
  std::string folder;               ///< of a plot of memory over the step; "": none
  BudgetVerdicts budgets;           ///< those that were looked at
  bool brief = false;               ///< other tables have what this one need not repeat
};
/// Says that rows are estimated from shapes alone, as there are so many.
void notePlainRows(Events& events, const State& state);
/// The estimates of a state that has passed `lower`, or `graph` where its rows are left to PlainRows. The exit status: kOk,
/// kVerdictAgainst where a row takes more than the limit, or why the roofline cannot be had.
int printEstimates(show::Out& out, State& state, const EstimateView& view, std::optional<FitLimit> limit = {});
/// Of one design or of a training's step, as text. Without `rows`, for a design whose rows stand in another table: where the row
/// that takes most has its memory.
void printEstimate(show::Out& out, State& state, const EstimateView& view, const DesignRun& run, bool rows);

}  // namespace tbem::driver
