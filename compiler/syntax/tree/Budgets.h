// Budgets of a design: what its rows may take at most. Beside Ast.h, as few stages read them.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <vector>

namespace tbem::ast {

/// `budget memory <= 22 GiB on pytorch(h100)`
struct Budget {
  const Expr* limit = nullptr;  ///< the comparison
  const Expr* on = nullptr;     ///< where; null: from shapes alone
  SrcRange range;
};

/// What every node of kind `Design` is.
struct BudgetedDesign : Design {
  std::vector<Budget> budgets;
};
inline const std::vector<Budget>& budgetsOf(const Design& design) { return static_cast<const BudgetedDesign&>(design).budgets; }

}  // namespace tbem::ast
