// A factor of the loss, so that small gradients are no zeros in f16 (Micikevicius et al. 2018, "Mixed Precision Training",
// arXiv 1710.03740, section 3.2).
//
// The gradients of `scale` times the loss go back through the network; those of weights, and others that are asked for, are
// divided by `scale` where they are complete. Where the norm of all weights' gradients is no finite number, weights and the
// states of optimisers stay as they are, and the scale becomes smaller; after many steps without that it becomes larger (std.nn:
// loss_scale). Reading and moving it is part of the step: nothing waits for the host.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

#include <string>

namespace tbem::graph {

/// Adds its states to the graph, as states of the first weight that the step moves: "dense.weight.loss_scale". So steps in one
/// arena that move other weights have scales of their own.
LossScale addLossScale(Elaborator& e, const std::string& weight);
/// What goes back from the loss: the scale, divided by how many micro-batches' losses it is the mean of. kNoTensor after a
/// report.
TensorId scaledSeed(Elaborator& e, const LossScale& scale, SrcRange range);
/// The gradient of the loss itself, of that of the scaled loss. kNoTensor after a report.
TensorId unscaled(Elaborator& e, const LossScale& scale, TensorId gradient, SrcRange range);
/// Moves the scale by the norm of all gradients, behind the optimisers. False after a report.
bool moveLossScale(Elaborator& e, const LossScale& scale, TensorId norm, SrcRange range);

}  // namespace tbem::graph
