// The clauses `budget` of a design as values: `budget memory <= 22 GiB on pytorch(h100)`.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

/// Whose figure of a row is meant.
enum class BudgetPlace : std::uint8_t {
  Shapes,  ///< from shapes alone
  Plan,    ///< `on cpu`, `on ref`: the plan that runs there
  PyTorch  ///< `on pytorch(h100)`, `on pytorch(cpu)`: a step of eager PyTorch
};

enum class BudgetUnit : std::uint8_t { Count, Flops, Bytes };

struct Budget {
  std::string text;      ///< "memory <= 22 GiB on pytorch(h100)"
  SrcRange range;        ///< of the comparison
  std::string quantity;  ///< "memory"
  BudgetUnit unit{};
  double limit = 0;
  bool below = false;  ///< `<`: the limit itself is too much
  BudgetPlace place{};
  std::string backend;  ///< of a plan "cpu", of PyTorch "pytorch" or "pytorch-cpu"
  std::string device;   ///< of "pytorch": the card

  bool holds(double value) const { return below ? value < limit : value <= limit; }
};

/// "1 234", "4.089 GFLOP", "1.500 GiB".
std::string textOf(BudgetUnit unit, double value);

/// The quantities of a place, as `estimate` calls them.
struct BudgetQuantity {
  std::string name;
  BudgetUnit unit{};
};
const std::vector<BudgetQuantity>& budgetQuantities(BudgetPlace place);

/// The budgets of a design, in order. Wrong ones are told in the session and left out.
std::vector<Budget> readBudgets(Workspace& workspace, const graph::DesignSpec& spec);

}  // namespace tbem::driver
