// Networks as programs of PyTorch: a module a block, `torch.nn`'s modules and functions for the standard library's operators.
// Weights have the paths that they have here, with ".0" for "[0]": "stage[0].conv2d.weight" is "stage.0.conv2d.weight".
#pragma once

#include "compiler/emit/python/Code.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::emit {

/// Clauses of a design that say how a step computes what its graph says.
struct StepClauses {
  std::optional<tbem_dtype> mixed;
  bool checkpoint = false;
};

struct Emitted {
  std::string text;
  std::vector<Refusal> leftOut;  ///< what the program does without, and may compute otherwise for that
};

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

}  // namespace tbem::emit
