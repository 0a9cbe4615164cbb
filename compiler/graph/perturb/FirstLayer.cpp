#include "compiler/graph/perturb/FirstLayer.h"

#include "compiler/diagnostics/tables/Graph.h"

#include <algorithm>

namespace tbem::graph {

namespace {
constexpr std::size_t kWeight = 1;  // the place of the weight among the inputs of both primitives

/// A weight that is computed has no name.
bool isLayer(const Graph& graph, const Op& op) {
  const bool multiplies = op.primitive == TBEM_PRIMITIVE_conv2d || op.primitive == TBEM_PRIMITIVE_dense;
  return multiplies && graph[graph[op.inputs[kWeight]].storage].kind == StorageClass::Weight;
}

/// The one operator that reads the value; nothing: none does, or several, or not every sample's value is read.
std::optional<OpId> onlyReader(const Graph& graph, TensorId value) {
  std::optional<OpId> reader;
  for (const Region& region : graph.regions) {
    const bool isMain = &region == &graph[kMainRegion];
    for (const OpId id : region.ops) {
      if (std::ranges::find(graph[id].inputs, value) == graph[id].inputs.end()) continue;
      if (reader || !isMain) return std::nullopt;
      reader = id;
    }
  }
  const std::vector<OpId>& ops = graph[kMainRegion].ops;
  const auto leaves = std::ranges::find(ops, OpKind::Exit, [&](OpId id) { return graph[id].kind; });
  return reader && std::find(ops.begin(), leaves, *reader) != leaves ? reader : std::nullopt;
}

/// What a normalisation and an activation function make of a layer's output, element by element: the first such value that
/// several operators read, or one that is not element-wise.
TensorId activationOf(const Graph& graph, TensorId value) {
  for (;;) {
    const std::optional<OpId> reader = onlyReader(graph, value);
    if (!reader || graph[*reader].kind != OpKind::Elementwise || graph[*reader].outputs.size() != 1) return value;
    const TensorId next = graph[*reader].outputs.front();
    if (graph[next].shape != graph[value].shape) return value;
    value = next;
  }
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
    graph.outputs.push_back(activationOf(graph, graph[*layer].outputs.front()));
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
