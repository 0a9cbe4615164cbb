#include "compiler/graph/pass/IntegerBounds.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

namespace {

class Bounds {
public:
  Bounds(const Graph& graph, const sema::Values& values) : graph(graph), values(values), of(graph.tensors.size(), 0) {}

  std::vector<std::int64_t> run() {
    for (auto op = graph.ops.rbegin(); op != graph.ops.rend(); ++op) read(*op);
    return std::move(of);
  }

private:
  void limit(TensorId tensor, std::int64_t bound) {
    if (tensor == kNoTensor || bound <= 0) return;
    std::int64_t& known = of[index(tensor)];
    known = known == 0 ? bound : std::min(known, bound);
  }

  /// 0 where the dimension is not there.
  std::int64_t dimension(TensorId tensor, std::size_t axis) const {
    const std::vector<ExprId>& shape = graph[tensor].shape;
    return axis < shape.size() ? values.integer(shape[axis]) : 0;
  }

  void read(const Op& op) {
    if (op.kind == OpKind::View) return limit(op.inputs[0], of[index(op.outputs[0])]);
    if (op.kind == OpKind::Elementwise) return readExpression(op);
    if (op.kind != OpKind::Native) return;
    switch (op.primitive) {
      case TBEM_PRIMITIVE_cross_entropy:
        return limit(op.inputs[1], dimension(op.inputs[0], static_cast<std::size_t>(values.integer(op.attributes[0].values[0]))));
      case TBEM_PRIMITIVE_cross_entropy_gradient:
        return limit(op.inputs[2], dimension(op.inputs[1], static_cast<std::size_t>(values.integer(op.attributes[0].values[0]))));
      case TBEM_PRIMITIVE_gather_gradient:
        return limit(op.inputs[1],
                     dimension(op.outputs[0], static_cast<std::size_t>(values.integer(op.attributes[0].values[0]))));
      case TBEM_PRIMITIVE_gather:
        limit(op.inputs[1], dimension(op.inputs[0], static_cast<std::size_t>(values.integer(op.attributes[0].values[0]))));
        return limit(op.inputs[0], of[index(op.outputs[0])]);
      case TBEM_PRIMITIVE_permute:
      case TBEM_PRIMITIVE_pad:
      case TBEM_PRIMITIVE_slice:
      case TBEM_PRIMITIVE_concat:
        for (const TensorId input : op.inputs) limit(input, of[index(op.outputs[0])]);
        return;
      default:
        return;
    }
  }

  /// `index = coordinate(k)`, as one_hot has it.
  void readExpression(const Op& op) {
    const std::vector<ElemNode>& nodes = op.elementwise.nodes;
    for (const ElemNode& node : nodes) {
      if (node.op != ElemOp::Equal) continue;
      for (const auto& [tensor, coordinate] : {std::pair{node.a, node.b}, std::pair{node.b, node.a}}) {
        if (nodes[tensor].op == ElemOp::Input && nodes[coordinate].op == ElemOp::Index)
          limit(op.inputs[nodes[tensor].input], dimension(op.outputs[0], nodes[coordinate].input));
      }
    }
  }

  const Graph& graph;
  const sema::Values& values;
  std::vector<std::int64_t> of;
};

}  // namespace

std::vector<std::int64_t> integerBounds(const Graph& graph, const sema::Values& values) { return Bounds(graph, values).run(); }

}  // namespace tbem::graph
