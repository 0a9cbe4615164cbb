// Rules of shapes of each family of primitives, but for those that move elements, and their attributes read into names.
#include "runtime/core/Primitive.h"
#include "runtime/core/ShapeRules.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::runtime {

using namespace detail;

namespace {

/// Which operands are the image, the weight and the result of a convolution, whatever the direction.
struct ConvOperands {
  const tbem_operand *image, *weight, *result;
};

ConvOperands convOperands(const tbem_op_desc& op) {
  const tbem_operand* o = op.operands;
  switch (op.primitive) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_dense:
      return {&o[0], &o[1], &o[3]};
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_dense_input_gradient:
      return {&o[2], &o[1], &o[0]};
    default:
      return {&o[0], &o[2], &o[1]};
  }
}

std::int64_t windows(std::int64_t length, std::int64_t before, std::int64_t after, std::int64_t kernel, std::int64_t stride,
                     std::int64_t dilation) {
  const std::int64_t room = length + before + after - (dilation * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

std::string checkConv(const tbem_op_desc& op) {
  const ConvOperands o = convOperands(op);
  if (o.image->rank != 4 || o.weight->rank != 4 || o.result->rank != 4) return shapes(op, "four dimensions each");
  const Conv2d c = conv2d(op);
  if (c.groups < 1 || c.c % c.groups != 0 || c.o % c.groups != 0) return mismatch(op, "groups", c.groups, 1);
  if (c.strideH < 1 || c.strideW < 1 || c.dilationH < 1 || c.dilationW < 1)
    return shapes(op, "stride and dilation are at least 1");
  if (std::min({c.top, c.left, c.bottom, c.right}) < 0) return shapes(op, "padding is at least 0");
  if (o.weight->dims[1] != c.c / c.groups) return mismatch(op, "input channels of the weight", o.weight->dims[1], c.c / c.groups);
  if (o.weight->dims[0] != c.o) return mismatch(op, "output channels of the weight", o.weight->dims[0], c.o);
  if (o.image->dims[0] != o.result->dims[0]) return mismatch(op, "batch", o.result->dims[0], c.n);
  const std::int64_t oh = windows(c.h, c.top, c.bottom, c.kh, c.strideH, c.dilationH);
  const std::int64_t ow = windows(c.w, c.left, c.right, c.kw, c.strideW, c.dilationW);
  if (oh != c.oh) return mismatch(op, "result height", c.oh, oh);
  if (ow != c.ow) return mismatch(op, "result width", c.ow, ow);
  if (op.primitive == TBEM_PRIMITIVE_conv2d && op.operands[2].present) {
    if (op.operands[2].rank != 1 || op.operands[2].dims[0] != c.o) return shapes(op, "the bias has one value an output channel");
  }
  return "";
}

std::string checkDense(const tbem_op_desc& op) {
  const ConvOperands o = convOperands(op);
  if (o.weight->rank != 2 || o.image->rank < 1 || o.image->rank != o.result->rank)
    return shapes(op, "x [.., i], weight [o, i], y [.., o]");
  const int last = o.image->rank - 1;
  if (!std::equal(o.image->dims, o.image->dims + last, o.result->dims) || o.image->dims[last] != o.weight->dims[1] ||
      o.result->dims[last] != o.weight->dims[0]) {
    return shapes(op, "x [.., i], weight [o, i], y [.., o]");
  }
  if (op.primitive == TBEM_PRIMITIVE_dense && op.operands[2].present) {
    if (op.operands[2].rank != 1 || op.operands[2].dims[0] != o.weight->dims[0])
      return shapes(op, "the bias has one value an output");
  }
  return "";
}

std::string checkMatmul(const tbem_op_desc& op) {
  const tbem_operand &a = op.operands[0], &b = op.operands[1], &y = op.operands[2];
  const auto* rule = "a [.., m, k], b [.., k, n], y [.., m, n] after transposition, leading dimensions broadcast";
  if (a.rank < 2 || b.rank < 2 || y.rank != std::max(a.rank, b.rank)) return shapes(op, rule);
  for (int d = 0; d < y.rank - 2; ++d) {
    const auto lead = [&](const tbem_operand& x) { return d < y.rank - x.rank ? 1 : x.dims[d - (y.rank - x.rank)]; };
    const std::int64_t left = lead(a), right = lead(b);
    if ((left != right && left != 1 && right != 1) || y.dims[d] != std::max(left, right)) return shapes(op, rule);
  }
  const Matmul m = matmul(op);
  const std::int64_t inner = b.dims[b.rank - (m.transposeB ? 1 : 2)];
  if (inner != m.k || y.dims[m.lead] != m.m || y.dims[m.lead + 1] != m.n) return shapes(op, rule);
  return "";
}

std::string checkReduce(const tbem_op_desc& op) {
  const bool gradient = op.primitive == TBEM_PRIMITIVE_reduce_max_gradient;
  const tbem_operand& x = op.operands[gradient ? 1 : 0];
  const tbem_operand& y = op.operands[gradient ? 2 : 1];
  bool dropped[TBEM_MAX_RANK] = {};
  for (int i = 0; i < op.attributes[0]; ++i) {
    const std::int64_t axis = op.attributes[1 + i];
    if (axis < 0 || axis >= x.rank || dropped[axis]) return mismatch(op, "axis", axis, 0);
    dropped[axis] = true;
  }
  int k = 0;
  for (int d = 0; d < x.rank; ++d) {
    if (dropped[d]) continue;
    if (k >= y.rank || y.dims[k] != x.dims[d]) return shapes(op, "the listed axes are dropped");
    ++k;
  }
  if (k != y.rank) return shapes(op, "the listed axes are dropped");
  if (gradient && (!sameShape(op.operands[0], y) || !sameShape(op.operands[3], x))) return shapes(op, "dy as y, dx as x");
  return "";
}

std::string checkChannel(const tbem_op_desc& op) {
  const tbem_operand& x = op.operands[0];
  if (x.rank < 2) return shapes(op, "x [n, c, ..]");
  const int first = op.primitive == TBEM_PRIMITIVE_channel_moments ? 1 : 2;
  if (first == 2 && !sameShape(x, op.operands[1])) return shapes(op, "dy as x");
  for (int k = first; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].rank != 1 || op.operands[k].dims[0] != x.dims[1]) return shapes(op, "one value a channel");
  }
  return "";
}

std::string checkRowSums(const tbem_op_desc& op) {
  const tbem_operand& x = op.operands[1];
  if (x.rank < 1 || !sameShape(x, op.operands[0])) return shapes(op, "x [.., f], dy as x");
  const std::int64_t features = x.dims[x.rank - 1];
  for (int k = 2; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& o = op.operands[k];
    if (!o.present) continue;
    const bool column = k == 3 || k == 5 || k == 6;
    const bool fits =
        column ? o.rank == 1 && o.dims[0] == features : o.rank == x.rank - 1 && std::equal(o.dims, o.dims + o.rank, x.dims);
    if (!fits) return shapes(op, "one value a feature for weight, dweight and dbias, one a row for the others");
  }
  return "";
}

bool isForwardPool(const tbem_op_desc& op) {
  return op.primitive == TBEM_PRIMITIVE_max_pool2d || op.primitive == TBEM_PRIMITIVE_avg_pool2d ||
         op.primitive == TBEM_PRIMITIVE_adaptive_avg_pool2d;
}

std::string checkPool(const tbem_op_desc& op) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].rank != 4) return shapes(op, "four dimensions each");
  }
  const Pool2d p = pool2d(op);
  const bool adaptive = op.attribute_count == 0;
  const tbem_operand& small = op.operands[isForwardPool(op) ? 1 : 0];
  if (small.dims[0] != p.n || small.dims[1] != p.c) return shapes(op, "batch and channels stay");
  if (op.primitive == TBEM_PRIMITIVE_max_pool2d_gradient && !sameShape(op.operands[1], op.operands[2]))
    return shapes(op, "dx as x");
  if (adaptive) return "";
  if (p.kh < 1 || p.kw < 1 || p.strideH < 1 || p.strideW < 1) return shapes(op, "kernel and stride are at least 1");
  const std::int64_t bottom = op.attributes[6], right = op.attributes[7];
  if (std::min({p.top, p.left, bottom, right}) < 0) return shapes(op, "padding is at least 0");
  const std::int64_t oh = windows(p.h, p.top, bottom, p.kh, p.strideH, 1), ow = windows(p.w, p.left, right, p.kw, p.strideW, 1);
  if (oh != p.oh) return mismatch(op, "result height", p.oh, oh);
  if (ow != p.ow) return mismatch(op, "result width", p.ow, ow);
  return "";
}

std::string checkSoftmax(const tbem_op_desc& op) {
  const tbem_operand& x = op.operands[0];
  if (op.attributes[0] < 0 || op.attributes[0] >= x.rank) return mismatch(op, "axis", op.attributes[0], 0);
  for (int k = 1; k < op.inputs + op.outputs; ++k) {
    if (!sameShape(x, op.operands[k])) return shapes(op, "equal shapes");
  }
  return "";
}

/// Operands of attention or its gradient: where query, key, value, y and log_sums are.
const tbem_operand* attentionOperands(const tbem_op_desc& op) {
  return op.operands + (op.primitive == TBEM_PRIMITIVE_attention_gradient ? 1 : 0);
}

std::string checkAttention(const tbem_op_desc& op) {
  const tbem_operand* const o = attentionOperands(op);
  const tbem_operand &query = o[0], &key = o[1], &value = o[2], &y = o[3], &logSums = o[4];
  const int lead = query.rank - 2;
  const auto fits = [&](const tbem_operand& operand, std::int64_t height, std::int64_t width) {
    return operand.rank == query.rank && std::equal(operand.dims, operand.dims + lead, query.dims) &&
           operand.dims[lead] == height && operand.dims[lead + 1] == width;
  };
  const auto* rule =
      "query [.., l, d], key [.., m, d], value [.., m, e], y [.., l, e], one number a row of the query, gradients alike";
  if (lead < 0 || key.rank != query.rank || value.rank != query.rank) return shapes(op, rule);
  const Attention a = attention(op);
  if (!fits(key, a.m, a.d) || !fits(value, a.m, a.e) || !fits(y, a.l, a.e)) return shapes(op, rule);
  if (logSums.rank != query.rank - 1 || !std::equal(logSums.dims, logSums.dims + logSums.rank, query.dims))
    return shapes(op, rule);
  if (op.primitive == TBEM_PRIMITIVE_attention) return "";
  const tbem_operand* const gradients = op.operands + op.inputs;
  const bool alike = sameShape(op.operands[0], y) && sameShape(gradients[0], query) && sameShape(gradients[1], key) &&
                     sameShape(gradients[2], value);
  return alike ? "" : shapes(op, rule);
}

std::string checkCrossEntropy(const tbem_op_desc& op) {
  const bool gradient = op.primitive == TBEM_PRIMITIVE_cross_entropy_gradient;
  const tbem_operand& logits = op.operands[gradient ? 1 : 0];
  const tbem_operand& target = op.operands[gradient ? 2 : 1];
  const tbem_operand& loss = op.operands[gradient ? 0 : 2];
  const auto* rule = "the target as the logits without their axis of classes, a scalar";
  const std::int64_t axis = op.attributes[0];
  if (axis < 0 || axis >= logits.rank) return mismatch(op, "axis", axis, 0);
  if (target.rank != logits.rank - 1 || loss.rank != 0) return shapes(op, rule);
  for (int d = 0; d < target.rank; ++d) {
    if (target.dims[d] != logits.dims[d < axis ? d : d + 1]) return shapes(op, rule);
  }
  if (gradient && !sameShape(logits, op.operands[3])) return shapes(op, "dlogits as logits");
  return "";
}

}  // namespace

Conv2d conv2d(const tbem_op_desc& op) {
  const ConvOperands o = convOperands(op);
  const std::int64_t* a = op.attributes;
  return {o.image->dims[0],
          o.image->dims[1],
          o.image->dims[2],
          o.image->dims[3],
          o.result->dims[1],
          o.result->dims[2],
          o.result->dims[3],
          o.weight->dims[2],
          o.weight->dims[3],
          a[0],
          a[1],
          a[2],
          a[3],
          a[4],
          a[5],
          a[6],
          a[7],
          a[8]};
}

Dense dense(const tbem_op_desc& op) {
  const ConvOperands o = convOperands(op);
  return {elementCount(*o.image) / o.weight->dims[1], o.weight->dims[1], o.weight->dims[0]};
}

Matmul matmul(const tbem_op_desc& op) {
  const tbem_operand &a = op.operands[0], &b = op.operands[1], &y = op.operands[2];
  const bool ta = op.attributes[0] != 0, tb = op.attributes[1] != 0;
  return {y.rank - 2, a.dims[a.rank - (ta ? 1 : 2)], a.dims[a.rank - (ta ? 2 : 1)], b.dims[b.rank - (tb ? 2 : 1)], ta, tb};
}

Attention attention(const tbem_op_desc& op) {
  const tbem_operand* const o = attentionOperands(op);
  const tbem_operand &query = o[0], &value = o[2];
  const int lead = query.rank - 2;
  Attention a{1,
              lead > 0 ? query.dims[lead - 1] : 1,
              query.dims[lead],
              value.dims[lead],
              query.dims[lead + 1],
              value.dims[lead + 1],
              op.attributes[0] != 0};
  for (int axis = 0; axis + 1 < lead; ++axis) a.outer *= query.dims[axis];
  return a;
}

Pool2d pool2d(const tbem_op_desc& op) {
  const bool forward = isForwardPool(op);
  const tbem_operand& big = forward ? op.operands[0] : op.operands[op.inputs];
  const tbem_operand& small = forward ? op.operands[1] : op.operands[0];
  Pool2d p{big.dims[0], big.dims[1], big.dims[2], big.dims[3], small.dims[2], small.dims[3], 0, 0, 0, 0, 0, 0, false};
  if (op.attribute_count == 0) return p;
  const std::int64_t* a = op.attributes;
  p.kh = a[0], p.kw = a[1], p.strideH = a[2], p.strideW = a[3], p.top = a[4], p.left = a[5];
  p.includePad = op.attribute_count > 8 && a[8] != 0;
  return p;
}

namespace detail {

std::string mismatch(const tbem_op_desc& op, std::string_view what, std::int64_t is, std::int64_t expected) {
  return fmt::format("{}: {} is {} where {} is expected", signature(static_cast<tbem_primitive>(op.primitive)).name, what, is,
                     expected);
}

bool sameShape(const tbem_operand& a, const tbem_operand& b) {
  return a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims);
}

std::string shapes(const tbem_op_desc& op, std::string_view rule) {
  std::string text = fmt::format("{}: shapes", signature(static_cast<tbem_primitive>(op.primitive)).name);
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].present) text += fmt::format(" {}", shapeText(op.operands[k]));
  }
  return text + fmt::format(" do not fit: {}", rule);
}

std::string checkShapes(const tbem_op_desc& op) {
  std::string wrong = checkTypes(op);
  if (!wrong.empty()) return wrong;
  switch (static_cast<tbem_primitive>(op.primitive)) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
      return checkConv(op);
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_dense_input_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
      return checkDense(op);
    case TBEM_PRIMITIVE_matmul:
      return checkMatmul(op);
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_reduce_max:
    case TBEM_PRIMITIVE_reduce_max_gradient:
      return checkReduce(op);
    case TBEM_PRIMITIVE_channel_moments:
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return checkChannel(op);
    case TBEM_PRIMITIVE_row_gradient_sums:
      return checkRowSums(op);
    case TBEM_PRIMITIVE_sum_squares:
      return op.operands[1].rank == 0 ? "" : shapes(op, "a scalar");
    case TBEM_PRIMITIVE_max_pool2d:
    case TBEM_PRIMITIVE_max_pool2d_gradient:
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
      return checkPool(op);
    case TBEM_PRIMITIVE_softmax:
    case TBEM_PRIMITIVE_softmax_gradient:
    case TBEM_PRIMITIVE_log_softmax:
    case TBEM_PRIMITIVE_log_softmax_gradient:
      return checkSoftmax(op);
    case TBEM_PRIMITIVE_attention:
    case TBEM_PRIMITIVE_attention_gradient:
      return checkAttention(op);
    case TBEM_PRIMITIVE_cross_entropy:
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return checkCrossEntropy(op);
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_reorder:
      return checkMove(op);
    case TBEM_PRIMITIVE_concat:
      return checkConcat(op);
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_gather_gradient:
      return checkGather(op);
    case TBEM_PRIMITIVE_arg_max:
      return checkArgMax(op);
    case TBEM_PRIMITIVE_split_rows:
    case TBEM_PRIMITIVE_move_rows:
      return checkRows(op);
    case TBEM_PRIMITIVE_constant:
      return op.operands[0].rank == 1 ? "" : shapes(op, "a vector");
    case TBEM_PRIMITIVE_COUNT:
      break;
  }
  return "";
}

}  // namespace detail

}  // namespace tbem::runtime
