// Operators of the graph that stand in no call that Keras has.
#include "compiler/emit/keras/Writers.h"
#include "compiler/emit/python/Elements.h"

#include <algorithm>

namespace tbem::emit::keras {

std::string kerasType(tbem_dtype dtype) {
  switch (dtype) {
    case TBEM_F32:
    case TBEM_F64:
    case TBEM_BF16:
    case TBEM_F16:
      return "self.compute_dtype";
    case TBEM_I64:
      return "\"int64\"";
    default:
      return "\"bool\"";
  }
}

namespace {

/// Whether each operand has the result's dimensions at their places, so that where the channels lie makes no difference.
bool isAnyLayout(const graph::Row& row, const graph::Op& op, const Layouts& layouts) {
  if (op.kind != graph::OpKind::Elementwise || op.inputs.empty()) return false;
  const std::vector<std::int64_t> shape = row.shape(op.outputs.front());
  for (const graph::ElemNode& node : op.elementwise.nodes) {
    if (node.op == graph::ElemOp::Index || node.op == graph::ElemOp::Random) return false;
  }
  return std::all_of(op.inputs.begin(), op.inputs.end(),
                     [&](graph::TensorId input) { return layouts.isLast(input) && row.shape(input) == shape; });
}

}  // namespace

tl::expected<Code, Refusal> kerasOperator(const graph::Row& row, const graph::Op& op, Layouts& layouts, Scribe& scribe) {
  static constexpr ElementWords kWords = {.framework = "Keras",
                                          .prefix = "ops.",
                                          .power = "ops.power",
                                          .full = "ops.full({0}, {1}, dtype={2})",
                                          .broadcast = "ops.broadcast_to({0}, {1})",
                                          .cast = "ops.cast({0}, {1})",
                                          .atLeast = "ops.maximum({0}, {1})",
                                          .atMost = "ops.minimum({0}, {1})",
                                          .random = "keras.random.uniform({0})",
                                          .permuted = "ops.transpose({0}, ({1}))",
                                          .range = "ops.arange({0}, dtype={1})",
                                          .reshaped = "ops.reshape({0}, ({1}{2}))",
                                          .scalar = "",
                                          .type = kerasType,
                                          .promotes = false};
  const bool keeps = isAnyLayout(row, op, layouts);
  if (keeps) layouts.setLast(op.outputs.front());
  const auto operand = [&](graph::TensorId tensor, Binding least) {
    return keeps ? Scribe::operand(tensor, least) : layouts.inOrder(tensor, least);
  };
  return elementCode(row, op, kWords, operand, scribe);
}

}  // namespace tbem::emit::keras
