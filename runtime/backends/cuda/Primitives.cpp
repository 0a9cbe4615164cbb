#include "runtime/backends/cuda/Primitives.h"

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

/// What takes operands of bf16 and f16, sums in f32 and rounds its results (statistics of channels are f32); others are given f32
/// by whoever asks.
bool computesNarrow(int primitive) {
  const Family family = familyOf(primitive);
  return family.query == convFamily().query || family.query == productFamily().query || family.query == channelFamily().query ||
         family.query == poolFamily().query || primitive == TBEM_PRIMITIVE_reduce_sum;
}

/// "" or why the card computes no such products: cuDNN and cuBLASLt multiply bf16 from compute capability 8.0 on.
std::string lacksBfloat16(int primitive) {
  const Family family = familyOf(primitive);
  if (family.query != convFamily().query && family.query != productFamily().query) return "";
  const std::optional<int> card = capability();
  if (!card || *card >= kTensorCores) return "";
  return fmt::format("cuda: {} of bf16 needs a card of compute capability 8.0, this one has {}.{}",
                     runtime::signature(static_cast<tbem_primitive>(primitive)).name, *card / 10, *card % 10);
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
    const bool isStatistic = signature.mayBeF32(k) && familyOf(op.primitive).query == channelFamily().query;
    const bool isNarrow = runtime::isNarrow(operand.dtype);
    if (isNarrow && computesNarrow(op.primitive) && !isStatistic) continue;
    const std::string other =
        isNarrow ? fmt::format("`mixed {}` gives it f32", runtime::dtypeName(operand.dtype)) : "ref computes in f64";
    return fail(TBEM_UNSUPPORTED, fmt::format("cuda: {} of {}; this backend computes it in f32 ({})", signature.name,
                                              runtime::dtypeName(operand.dtype), other));
  }
  if (!signature.moves && op.operands[0].present != 0 && op.operands[0].dtype == TBEM_BF16) {
    const std::string lacking = lacksBfloat16(op.primitive);
    if (!lacking.empty()) return fail(TBEM_UNSUPPORTED, lacking);
  }
  return TBEM_OK;
}

}  // namespace tbem::cuda
