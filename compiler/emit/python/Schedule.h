// A learning rate that depends on the step, as a Python function of numbers.
#pragma once

#include "compiler/emit/module/ModuleTree.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <string>

namespace tbem::emit {

/// Statements that return the rate of `step`, which counts from 1.
tl::expected<std::string, Refusal> rateText(const graph::Row& row, graph::TensorId rate);
/// The function `learning_rate` of these statements, of the number of steps that are done; two empty lines before it.
std::string rateFunction(const std::string& rate);

}  // namespace tbem::emit
