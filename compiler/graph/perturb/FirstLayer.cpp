#include "compiler/graph/perturb/FirstLayer.h"

#include "compiler/diagnostics/tables/Graph.h"

namespace tbem::graph {

namespace {
constexpr std::size_t kWeight = 1;  // the place of the weight among the inputs of both primitives

/// A weight that is computed has no name.
bool isLayer(const Graph& graph, const Op& op) {
  const bool multiplies = op.primitive == TBEM_PRIMITIVE_conv2d || op.primitive == TBEM_PRIMITIVE_dense;
  return op.kind == OpKind::Native && multiplies && graph[graph[op.inputs[kWeight]].storage].kind == StorageClass::Weight;
}
}  // namespace

std::optional<OpId> firstLayer(const Graph& graph) {
  const std::vector<OpId>& ops = graph[kMainRegion].ops;
  for (const OpId id : ops) {
    if (graph[id].kind == OpKind::Exit) break;  // what follows is for samples that did not leave
    if (isLayer(graph, graph[id])) return id;
  }
  return std::nullopt;
}

bool keepFirstLayer(DiagnosticSink& sink, Graph& graph, SrcRange use, const ast::Callable& network) {
  const std::optional<OpId> layer = firstLayer(graph);
  if (layer) {
    graph.outputs.push_back(graph[*layer].outputs.front());
    return true;
  }
  sink.report(
          diag::wrong_tensor, use, "`detect`",
          "a network with a convolution or a dense layer before its first exit and outside of gates, whose output it looks at")
      .label(network.name.range, "there is none");
  return false;
}

std::string layerName(const Graph& graph, OpId layer) {
  const std::string& path = graph[graph[graph[layer].inputs[kWeight]].storage].path;
  return path.substr(0, path.rfind('.'));
}

}  // namespace tbem::graph
