// The primitives as the cuda backend has them: which family each is of, and what it takes.
#pragma once

#include "runtime/backends/cuda/device/Op.h"

namespace tbem::cuda {

Family familyOf(int primitive);

/// Shapes and element types, for query and create; why not goes to last_error.
tbem_status checkOp(const tbem_op_desc& op);

}  // namespace tbem::cuda
