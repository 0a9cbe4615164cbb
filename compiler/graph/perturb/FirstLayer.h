// The first layer of a network, at whose activations a detector of slow inputs looks.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/graph/ir/Graph.h"
#include "compiler/syntax/tree/Ast.h"

#include <optional>
#include <string>

namespace tbem::graph {

/// The first convolution or dense layer in program order that every sample computes, with a weight of its own; nothing: there is
/// none.
std::optional<OpId> firstLayer(const Graph& graph);

/// Makes its activations the last output of the network's graph: what the operators behind it make of each number that it
/// computes, up to the first value that is read otherwise. False after a report at `use`: there is none.
bool keepFirstLayer(DiagnosticSink& sink, Graph& graph, SrcRange use, const ast::Callable& network);

/// The path of its block: "conv_bn_relu.conv2d", of the weight "conv_bn_relu.conv2d.weight".
std::string layerName(const Graph& graph, OpId layer);

}  // namespace tbem::graph
