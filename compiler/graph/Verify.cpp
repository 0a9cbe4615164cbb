// Checks of a finished graph, and its text form.
#include "compiler/graph/Elaborate.h"

#include <algorithm>

namespace tbem::graph {

namespace {
/// All operators in program order, those of a gate's arms behind the gate. `depth` says how many arms enclose each.
struct Placed {
  OpId op;
  int depth;
};
std::vector<Placed> inOrder(const Graph& graph) {
  std::vector<Placed> order;
  struct Open {
    RegionId region;
    std::size_t next;
  };
  std::vector<Open> open{{kMainRegion, 0}};
  while (!open.empty()) {
    Open& top = open.back();
    if (top.next == graph[top.region].ops.size()) {
      open.pop_back();
      continue;
    }
    const OpId id = graph[top.region].ops[top.next++];
    order.push_back({id, static_cast<int>(open.size()) - 1});
    const std::vector<RegionId>& arms = graph[id].regions;
    for (auto arm = arms.rbegin(); arm != arms.rend(); ++arm) open.push_back({*arm, 0});
  }
  return order;
}
}  // namespace

std::vector<std::string> verify(const Graph& graph) {
  std::vector<std::string> wrong;
  const auto say = [&](const Op& op, const std::string& what) { wrong.push_back(op.declaration + ": " + what); };
  std::vector<bool> made(graph.tensors.size(), false);
  std::vector<TensorId> newest(graph.storages.size(), kNoTensor);  // by storage: the last value written by an update
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) made[t] = graph.tensors[t].producer == kNoOp;
  for (const auto& [id, depth] : inOrder(graph)) {
    const Op& op = graph[id];
    for (const TensorId input : op.inputs) {
      if (input == kNoTensor) continue;
      if (!made[index(input)]) say(op, "reads `" + graph[input].name + "` before it is made");
      const TensorId now = newest[index(graph[input].storage)];
      if (now != kNoTensor && now != input) {
        // A view of the newest value is as good as the value.
        TensorId source = input;
        while (graph[source].producer != kNoOp && graph[graph[source].producer].kind == OpKind::View)
          source = graph[graph[source].producer].inputs.front();
        if (source != now) say(op, "reads an old value of `" + graph[graph[input].storage].path + "`");
      }
    }
    for (const TensorId result : op.outputs) {
      if (graph[result].producer != id) say(op, "is not the producer of its result `" + graph[result].name + "`");
      if (made[index(result)]) say(op, "makes `" + graph[result].name + "` again");
      made[index(result)] = true;
      if (op.kind != OpKind::View) newest[index(graph[result].storage)] = result;
    }
    if (op.kind == OpKind::Elementwise) {
      if (op.elementwise.operands.size() != op.inputs.size() || op.elementwise.roots.size() != op.outputs.size())
        say(op, "has operands or roots out of step");
      for (std::size_t i = 0; i < op.inputs.size() && i < op.elementwise.operands.size(); ++i) {
        if (op.elementwise.operands[i].axes.size() != graph[op.inputs[i]].shape.size())
          say(op, "reads an operand of another rank");
      }
    }
  }
  return wrong;
}

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
  for (const auto& [id, depth] : inOrder(graph)) {
    const Op& op = graph[id];
    static constexpr const char* kPhases[] = {"", "backward ", "update "};
    text += std::string(2 + 2 * static_cast<std::size_t>(depth), ' ') + (op.outputs.empty() ? "" : list(op.outputs) + " = ") +
            kPhases[static_cast<int>(op.phase)] + op.declaration + "(" + list(op.inputs) + ")";
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
