#include "compiler/graph/ir/Verify.h"

#include "compiler/graph/ir/Walk.h"

namespace tbem::graph {

std::vector<std::string> verify(const Graph& graph) {
  std::vector<std::string> wrong;
  const auto say = [&](const Op& op, const std::string& what) { wrong.push_back(op.declaration + ": " + what); };
  std::vector<bool> made(graph.tensors.size(), false);
  std::vector<TensorId> newest(graph.storages.size(), kNoTensor);  // by storage: the last value written by an update
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) made[t] = graph.tensors[t].producer == kNoOp;
  for (const OpId id : programOrder(graph)) {
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
    if ((op.primitive != TBEM_PRIMITIVE_COUNT) != (op.kind == OpKind::Native && op.own.symbol.empty()))
      say(op, "is no call of a primitive and has one, or is one and has none");
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

}  // namespace tbem::graph
