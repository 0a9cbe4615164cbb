// The primitives as the cuda backend has them: which family each is of, and what it takes.
#pragma once

#include "runtime/backends/cuda/device/Op.h"

namespace tbem::cuda {

Family familyOf(int primitive);
/// The one that computes a checked description: of narrow types perhaps by way of f32 (Widened.h).
Family familyFor(const tbem_op_desc& op);
/// Whether operand `k` of a checked description is of a narrow type and its family takes it in f32 alone.
bool mustBeWide(const tbem_op_desc& op, int k);

/// Shapes and element types, for query and create; why not goes to last_error.
tbem_status checkOp(const tbem_op_desc& op);

}  // namespace tbem::cuda
