// Which operator a row's parameters, FLOPs and bytes belong to, by the names of declarations.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/count/Static.h"
#include "compiler/estimate/Roofline.h"
#include "compiler/lower/program/Program.h"

#include <map>
#include <string>

namespace tbem::estimate {

/// Amounts by operator: "conv2d", "batch_norm"; "input" for what the program is given, "gaps" for bytes of an arena in no
/// allocation. A gradient counts for the operator whose gradient it is; a weight, its gradient and its optimiser's state for the
/// operator that reads the weight first.
using Attribution = std::map<std::string, double>;

Attribution parametersByOperator(const graph::Graph& graph, const sema::Values& values);
/// FLOPs of the whole step.
Attribution flopsByOperator(const Flops& flops);
/// Bytes live at the peak of `staticMemory`. Activations belong to the operator that wrote them.
Attribution staticByOperator(const graph::Graph& graph, const StaticMemory& memory);
/// Bytes of the arena at its peak; a workspace belongs to the call that needs it.
Attribution arenaByOperator(const graph::Graph& graph, const Program& program);
/// Least seconds, by the name of the step: "batch_norm+relu" is one.
Attribution leastTimeByOperator(const Roofline& roofline);

}  // namespace tbem::estimate
