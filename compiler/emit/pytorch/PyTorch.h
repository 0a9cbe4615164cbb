// Networks as programs of PyTorch: a module a block, `torch.nn`'s modules and functions for the standard library's operators.
// Weights have the paths that they have here, with ".0" for "[0]": "stage[0].conv2d.weight" is "stage.0.conv2d.weight".
#pragma once

#include "compiler/emit/python/Program.h"

#include <string>

namespace tbem::emit {

/// The row's network, loss and optimiser as a Python file that needs PyTorch alone. The row's structure has its calls
/// (ExperimentOptions::recordCalls).
tl::expected<Emitted, Refusal> emitPyTorch(const graph::Row& row, const StepClauses& clauses);

// ---- Its parts ---------------------------------------------------------------------------------------------------------

/// Whether PyTorch has what the call of the standard library computes, with these parameters.
bool hasPyTorch(const graph::Row& row, const graph::Call& call);
/// The call, for which `hasPyTorch` is true.
Code pyTorchCall(const graph::Row& row, const graph::Call& call, Scribe& scribe);
/// An operator of the graph that belongs to no call that PyTorch has: of a program's own, mostly.
tl::expected<Code, Refusal> pyTorchOperator(const graph::Row& row, const graph::Op& op, Scribe& scribe);
/// "torch.int64"; of f32 and f64 the type that tensors have unless told otherwise.
std::string pyTorchType(tbem_dtype dtype);
/// What objects of torch.nn.Module, and the functions of a program, have already.
const TakenWords& pyTorchWords();

}  // namespace tbem::emit
