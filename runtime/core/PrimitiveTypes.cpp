// Rules of element types of the primitives.
#include "runtime/core/Primitive.h"

#include <fmt/format.h>

namespace tbem::runtime {
namespace {

/// The operand that holds numbers of elements, or -1.
int indexOperand(const tbem_op_desc& op) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_cross_entropy:
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_gather_gradient:
    case TBEM_PRIMITIVE_arg_max:
      return 1;
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return 2;
    default:
      return -1;
  }
}

/// Operands that may be f32 where operand 0 is bf16: a bias, sums, statistics and gradients of weights.
bool keepsSums(const tbem_op_desc& op, int operand) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
      return operand == 2;
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_channel_moments:
      return operand >= 1;
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return operand >= 2;
    default:
      return false;
  }
}

}  // namespace

bool movesOnly(int primitive) {
  return primitive == TBEM_PRIMITIVE_permute || primitive == TBEM_PRIMITIVE_pad || primitive == TBEM_PRIMITIVE_slice ||
         primitive == TBEM_PRIMITIVE_concat || primitive == TBEM_PRIMITIVE_gather || primitive == TBEM_PRIMITIVE_reorder ||
         primitive == TBEM_PRIMITIVE_split_rows || primitive == TBEM_PRIMITIVE_move_rows;
}

namespace detail {
std::string checkTypes(const tbem_op_desc& op) {
  const bool rows = op.primitive == TBEM_PRIMITIVE_split_rows || op.primitive == TBEM_PRIMITIVE_move_rows;
  if (op.primitive == TBEM_PRIMITIVE_reorder || rows) return "";  // checkRows looks at the lists
  const bool moves = movesOnly(op.primitive);
  const int index = indexOperand(op);
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& o = op.operands[k];
    if (!o.present) continue;
    const bool wider = op.operands[0].dtype == TBEM_BF16 && o.dtype == TBEM_F32 && keepsSums(op, k);
    const bool fits =
        k == index ? o.dtype == TBEM_I64 : wider || (o.dtype == op.operands[0].dtype && (moves || tbem_is_floating(o.dtype)));
    if (k == 0 && !fits && k != index)
      return fmt::format("{}: operand 0 has the element type {}, which is not floating",
                         signature(static_cast<tbem_primitive>(op.primitive)).name, dtypeName(o.dtype));
    if (!fits) {
      return fmt::format("{}: element type {} of operand {} does not go with {}",
                         signature(static_cast<tbem_primitive>(op.primitive)).name, dtypeName(o.dtype), k,
                         dtypeName(k == index ? static_cast<int>(TBEM_I64) : op.operands[0].dtype));
    }
  }
  return "";
}
}  // namespace detail

}  // namespace tbem::runtime
