// How budgets are shown beside estimates: a column of margins, a line a budget, and objects of JSON.
#pragma once

#include "compiler/budget/Budgets.h"
#include "compiler/show/Out.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tbem::driver {

using BudgetVerdicts = std::vector<BudgetVerdict>;

/// Whether the design has budgets that were looked at.
bool hasBudgets(const BudgetVerdicts& verdicts, const DesignRun& run);
/// Of the budget of which the row leaves least, what it leaves: "8.60 %", "-19.5 %"; "": the row has no figure.
std::string marginText(const BudgetVerdicts& verdicts, const DesignRun& run, std::size_t row);
/// A line a budget: what the row that takes most of it takes, and leaves.
void sayBudgets(show::Out& out, const BudgetVerdicts& verdicts, const DesignRun& run);
/// The same by design, for a command that prints no rows: that it is kept or broken, and of the row that takes most.
void printBudgets(show::Out& out, const SourceManager& sources, const BudgetVerdicts& verdicts);
/// Field `budgets` of a row.
Json budgetsJson(const BudgetVerdicts& verdicts, const DesignRun& run, std::size_t row);

}  // namespace tbem::driver
