#include "runtime/backends/cuda/Primitives.h"

#include "runtime/backends/cuda/Widened.h"
#include "runtime/backends/cuda/libraries/TargetCard.h"
#include "runtime/core/NarrowFloat.h"

#include <fmt/format.h>

#include <optional>

namespace tbem::cuda {

Family familyOf(int primitive) {
  switch (static_cast<tbem_primitive>(primitive)) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
      return convFamily();
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_dense_input_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
    case TBEM_PRIMITIVE_matmul:
      return productFamily();
    case TBEM_PRIMITIVE_attention:
    case TBEM_PRIMITIVE_attention_gradient:
      return attentionFamily();
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_reduce_max:
    case TBEM_PRIMITIVE_reduce_max_gradient:
    case TBEM_PRIMITIVE_sum_squares:
      return reduceFamily();
    case TBEM_PRIMITIVE_channel_moments:
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return channelFamily();
    case TBEM_PRIMITIVE_row_gradient_sums:
      return rowSumFamily();
    case TBEM_PRIMITIVE_max_pool2d:
    case TBEM_PRIMITIVE_max_pool2d_gradient:
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
      return poolFamily();
    case TBEM_PRIMITIVE_softmax:
    case TBEM_PRIMITIVE_softmax_gradient:
    case TBEM_PRIMITIVE_log_softmax:
    case TBEM_PRIMITIVE_log_softmax_gradient:
    case TBEM_PRIMITIVE_cross_entropy:
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return softmaxFamily();
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_gather_gradient:
    case TBEM_PRIMITIVE_arg_max:
    case TBEM_PRIMITIVE_constant:
      return indexFamily();
    case TBEM_PRIMITIVE_split_rows:
    case TBEM_PRIMITIVE_move_rows:
      return rowsFamily();
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_concat:
    case TBEM_PRIMITIVE_reorder:
    case TBEM_PRIMITIVE_COUNT:
      break;
  }
  return moveFamily();
}

namespace {

/// Whether operand `k` of such a primitive may be bf16 or f16: what is large is read and written as it is, with sums in f32 and
/// more.
bool takesNarrow(int primitive, int k) {
  switch (primitive) {
    case TBEM_PRIMITIVE_channel_moments:
      return k == 0;
    case TBEM_PRIMITIVE_channel_gradient_sums:
    case TBEM_PRIMITIVE_row_gradient_sums:
      return k <= 1;
    case TBEM_PRIMITIVE_cross_entropy:
      return k == 0;
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return k == 1 || k == 3;
    case TBEM_PRIMITIVE_attention:
      return k != 4;
    case TBEM_PRIMITIVE_attention_gradient:
      return k != 5;
    case TBEM_PRIMITIVE_reduce_max:
    case TBEM_PRIMITIVE_reduce_max_gradient:
    case TBEM_PRIMITIVE_sum_squares:
    case TBEM_PRIMITIVE_arg_max:
    case TBEM_PRIMITIVE_constant:
      return false;
    default:
      return true;
  }
}

/// "" or why the card does not compute it: products of bf16, and attention, are there from compute capability 8.0 on.
std::string lacksTensorCores(const tbem_op_desc& op) {
  const Family family = familyOf(op.primitive);
  const bool attends = family.query == attentionFamily().query;
  const bool multiplies = family.query == convFamily().query || family.query == productFamily().query;
  if (!attends && !(multiplies && op.operands[0].present != 0 && op.operands[0].dtype == TBEM_BF16)) return "";
  const std::optional<int> card = capability();
  if (!card || *card >= kTensorCores) return "";
  return fmt::format("cuda: {} of {} needs a card of compute capability 8.0, this one has {}.{}",
                     runtime::signature(static_cast<tbem_primitive>(op.primitive)).name, runtime::dtypeName(op.operands[0].dtype),
                     *card / 10, *card % 10);
}

}  // namespace

tbem_status checkOp(const tbem_op_desc& op) {
  const std::string wrong = runtime::checkDescription(op);
  if (!wrong.empty()) return fail(TBEM_INVALID, wrong);
  const runtime::Signature& signature = runtime::signature(static_cast<tbem_primitive>(op.primitive));
  const bool chooses = familyOf(op.primitive).query == convFamily().query;
  if (op.algorithm != 0 && !chooses) return fail(TBEM_UNSUPPORTED, fmt::format("cuda: {} has one algorithm", signature.name));
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& operand = op.operands[k];
    if (operand.present == 0 || signature.moves || tbem_is_floating(operand.dtype) == 0 || operand.dtype == TBEM_F32) continue;
    if (runtime::isNarrow(operand.dtype)) continue;
    return fail(TBEM_UNSUPPORTED, fmt::format("cuda: {} of {}; this backend computes it in f32 (ref computes in f64)",
                                              signature.name, runtime::dtypeName(operand.dtype)));
  }
  const std::string lacking = lacksTensorCores(op);
  if (!lacking.empty()) return fail(TBEM_UNSUPPORTED, lacking);
  return TBEM_OK;
}

bool mustBeWide(const tbem_op_desc& op, int k) {
  const tbem_operand& operand = op.operands[k];
  const bool moves = runtime::signature(static_cast<tbem_primitive>(op.primitive)).moves;
  return operand.present != 0 && !moves && runtime::isNarrow(operand.dtype) && !takesNarrow(op.primitive, k);
}

Family familyFor(const tbem_op_desc& op) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    if (mustBeWide(op, k)) return widenedFamily();
  }
  return familyOf(op.primitive);
}

}  // namespace tbem::cuda
