// Names of the operations of element-wise expressions, for forms of a graph that are text.
#pragma once

#include "compiler/graph/ir/Graph.h"

namespace tbem::graph {

/// "add", "select": as ElemOps.def has it.
const char* nameOf(ElemOp op);

}  // namespace tbem::graph
