// The loss of a training step. Internal to this folder.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <vector>

namespace tbem::graph {

/// The network's output, and the target as an input of its own: a loss's second tensor, whose shape and type come from its
/// declaration, with dimensions of the output. Empty after a report.
std::vector<Value> addTarget(Elaborator& elaborator, const Value& loss, SrcRange at, TensorId output);

/// `loss` of the network's output and the target, which `pair` holds; of a network with exits that trains, the sum over its
/// results, weighted by GateTraining::exits. Poison after a report. `at`: the text of the loss.
Value sumOfLosses(Elaborator& elaborator, const GateTraining& gates, const Value& loss, const std::vector<Value>& pair,
                  SrcRange at);

}  // namespace tbem::graph
