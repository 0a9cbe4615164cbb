// A structure as text.
#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/ir/Walk.h"

namespace tbem::graph {

std::string dump(const Structure& structure) {
  const Graph& graph = structure.graph;
  std::string text = "network " + graph.network + "\n";
  const auto nameOf = [&](TensorId id) { return id == kNoTensor ? std::string("none") : "%" + std::to_string(index(id)); };
  const auto list = [&](const std::vector<TensorId>& ids) {
    std::string line;
    for (const TensorId id : ids) line += (line.empty() ? "" : ", ") + nameOf(id);
    return line;
  };
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].producer != kNoOp) continue;
    const auto id = static_cast<TensorId>(t);
    text += "  " + nameOf(id) + " = " + graph[graph[id].storage].path + " " + shapeText(structure.pool, graph, id) + "\n";
  }
  for (const Placed& placed : inOrder(graph)) {
    const Op& op = graph[placed.op];
    static constexpr const char* kPhases[] = {"", "backward ", "update "};
    text += std::string(2 + 2 * static_cast<std::size_t>(placed.depth), ' ') +
            (op.outputs.empty() ? "" : list(op.outputs) + " = ") + kPhases[static_cast<int>(op.phase)] + op.declaration + "(" +
            list(op.inputs) + ")";
    for (const Attribute& attribute : op.attributes) {
      text += " " + attribute.name + "=";
      for (std::size_t i = 0; i < attribute.values.size(); ++i)
        text += (i == 0 ? "" : ",") + structure.pool.str(attribute.values[i]);
    }
    for (const TensorId result : op.outputs) text += " " + shapeText(structure.pool, graph, result);
    text += "\n";
  }
  return text;
}

}  // namespace tbem::graph
