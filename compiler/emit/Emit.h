// Other forms of a graph in one row, for people and programs to read.
#pragma once

#include "compiler/diagnostics/Source.h"
#include "compiler/graph/ir/Graph.h"

#include <string>

namespace tbem::emit {

/// GraphViz: one node an operator, edges with shapes, one cluster an outermost block; weights are left out, gradients and
/// updates are dashed. Ends with a newline.
std::string emitDot(const graph::Graph& graph, const sema::Values& values);

/// One JSON object: {"kind":"graph","schema":1,"network","inputs","outputs","loss","weights":[..],"tensors":[..],"storages":[..],
/// "operators":[..]}. Tensors, storages and operators are referred to by position. A number without a value in this row is null.
/// Ends with a newline.
std::string emitJson(const graph::Graph& graph, const sema::Values& values, const SourceManager& sources);

}  // namespace tbem::emit
