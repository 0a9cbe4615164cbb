// Weights that stay, and parameter groups, as functions of a PyTorch program. Internal to compiler/emit/pytorch.
#pragma once

#include "compiler/emit/pytorch/Training.h"

#include <string>
#include <vector>

namespace tbem::emit {

/// One optimiser of the row, as PyTorch has it.
struct OptimizerText {
  std::string type;                   ///< "torch.optim.SGD"
  std::vector<std::string> keywords;  ///< of its constructor
  std::vector<std::string> values;    ///< of these, as text
};

/// The optimisers that move any weight, by their numbers in the graph; the first where nothing learns.
std::vector<std::uint32_t> movingOptimizers(const graph::Graph& graph);

/// The function `freeze(model)`, two empty lines before it; empty: nothing is frozen.
std::string freezeFunction(const graph::Row& row);

/// How several optimisers move the weights: the function that makes them, and what `main` calls.
struct GroupsText {
  std::string function;  ///< two empty lines before it
  std::string made;      ///< the optimiser, or the list of optimisers
  bool isList = false;
};
/// `optimizers`: those that `groups` numbers, two or more.
GroupsText groupsText(const graph::Row& row, const std::vector<std::uint32_t>& groups,
                      const std::vector<OptimizerText>& optimizers);

}  // namespace tbem::emit
