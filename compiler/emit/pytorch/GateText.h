// Gates in PyTorch: modules that decide, and keep what they have decided. Internal to compiler/emit/pytorch.
#pragma once

#include "compiler/emit/gates/GateGraph.h"
#include "compiler/emit/pytorch/PyTorch.h"

#include <string>

namespace tbem::emit {

/// Whether the operator is a gate, a join, or one of `GateGraph::begin`.
bool isOfGates(const GateGraph& gates, const graph::Op& op);
/// The operator, for which `isOfGates` is true.
Code gateCode(const GateGraph& gates, const graph::Op& op);
/// The classes of the gates that the network has, and the function `decisions`; two empty lines before each.
std::string gateClasses(const GateGraph& gates);

}  // namespace tbem::emit
