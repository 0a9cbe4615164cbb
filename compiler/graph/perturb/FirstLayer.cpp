#include "compiler/graph/perturb/FirstLayer.h"

#include "compiler/diagnostics/tables/Graph.h"

namespace tbem::graph {

namespace {
constexpr std::size_t kWeight = 1;  // the place of the weight among the inputs of both primitives

bool isLayer(const Op& op) {
  return op.kind == OpKind::Native && (op.primitive == TBEM_PRIMITIVE_conv2d || op.primitive == TBEM_PRIMITIVE_dense);
}
}  // namespace

std::optional<OpId> firstLayer(const Graph& graph) {
  const std::vector<OpId>& ops = graph[kMainRegion].ops;
  for (const OpId id : ops) {
    if (graph[id].kind == OpKind::Exit) break;  // what follows is for samples that did not leave
    if (isLayer(graph[id])) return id;
  }
  return std::nullopt;
}

bool keepFirstLayer(DiagnosticSink& sink, Graph& graph, const ast::Callable& network) {
  const std::optional<OpId> layer = firstLayer(graph);
  if (layer) {
    graph.outputs.push_back(graph[*layer].outputs.front());
    return true;
  }
  sink.report(diag::wrong_tensor, network.name.range, "the first layer of `" + network.name.text + "`",
              "a convolution or a dense layer that every sample computes: `detect` looks at its output");
  return false;
}

std::string layerName(const Graph& graph, OpId layer) {
  const std::string& path = graph[graph[graph[layer].inputs[kWeight]].storage].path;
  return path.substr(0, path.rfind('.'));
}

}  // namespace tbem::graph
