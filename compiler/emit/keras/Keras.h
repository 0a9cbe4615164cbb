// Networks as programs of Keras 3: a layer a block, Keras's layers and functions for the standard library's operators. Images are
// [n, height, width, channels] there, which is all that every backend computes. Weights lie where they do here:
// "stage[0].conv2d.weight" is `model.stage[0].conv2d.kernel`, in Keras's own order of dimensions (docs/frameworks.md).
#pragma once

#include "compiler/emit/python/Program.h"

namespace tbem::emit {

/// The row's network, loss and optimiser as a Python file that needs Keras and one of its backends alone. The row's structure has
/// its calls (ExperimentOptions::recordCalls).
tl::expected<Emitted, Refusal> emitKeras(const graph::Row& row, const StepClauses& clauses);

}  // namespace tbem::emit
