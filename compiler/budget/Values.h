// What a row has of the quantity of a budget, and what that consists of.
#pragma once

#include "compiler/budget/Clauses.h"
#include "compiler/diagnostics/Source.h"
#include "compiler/estimate/Estimate.h"
#include "compiler/pytorch/rows/PyTorchMemory.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct BudgetValue {
  double value = 0;      ///< parameters, FLOPs, bytes
  bool atLeast = false;  ///< something is left out that nobody knows
};
/// Of a budget from shapes alone, or of a plan, whose estimate has one.
BudgetValue valueOf(const Budget& budget, const estimate::Estimate& estimate);
/// Of a budget in PyTorch.
BudgetValue valueOf(const Budget& budget, const PyTorchMemory& memory);

/// A weight, a value, a workspace or an operator, and its share.
struct BudgetPart {
  std::string name;  ///< "weights of `fc.weight`", "activations of conv2d in stage[0]"
  SrcRange range;    ///< in the user's text; may be nowhere
  double amount = 0;
};
/// The parts of the value, largest first. `program`: of a plan; else nullptr.
std::vector<BudgetPart> partsOf(const Budget& budget, const graph::Graph& graph, const sema::Values& values,
                                const estimate::Estimate& estimate, const estimate::Program* program);
std::vector<BudgetPart> partsOf(const Budget& budget, const PyTorchMemory& memory);

}  // namespace tbem::driver
