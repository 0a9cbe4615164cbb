// What a description of a native operator must satisfy, in one place for every backend: the signature of each primitive, as
// primitives.def lists it, the rules of shapes, and the attributes read into names.
//
// Shapes are the logical row-major ones of primitives.def; layouts are not looked at here.
#pragma once

#include "runtime/core/Layout.h"
#include "tbem/primitives.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tbem::runtime {

/// A target of the cross entropies that has no class: its line counts for nothing, neither in the sum nor in the number of lines.
constexpr std::int64_t kNoClass = -100;

/// "[16, 64, 32, 32]"; for messages.
std::string shapeText(const tbem_operand& operand);

/// "" or what is wrong with the description, in words: wrong number of operands or attributes, shapes or element types that
/// do not go together. `target` of the cross entropies, `index` and the result of arg_max are i64, every other operand of an
/// arithmetic primitive has one floating type, but for the bias, sums, statistics and gradients of weights of bf16 operands,
/// which may be f32; permute, pad, slice, concat, gather and reorder move any type, and only reorder may change it.
std::string checkDescription(const tbem_op_desc& op);

/// Images n, c, h, w; result o channels of oh x ow; kernel kh x kw. Padding top, left, bottom, right.
struct Conv2d {
  std::int64_t n, c, h, w, o, oh, ow, kh, kw, strideH, strideW, top, left, bottom, right, dilationH, dilationW, groups;
};
/// Of any of the three conv2d primitives, from a description that passed checkDescription.
Conv2d conv2d(const tbem_op_desc& op);

/// dense: y[rows, out] = x[rows, in] weight[out, in]^T, leading dimensions multiplied into rows.
struct Dense {
  std::int64_t rows, in, out;
};
Dense dense(const tbem_op_desc& op);

/// matmul: a product of [m, k] with [k, n] for each combination of the `lead` leading dimensions of the result. Along those of an
/// operand that are 1, or that it does not have, it is the same for all.
struct Matmul {
  int lead;
  std::int64_t m, k, n;
  bool transposeA, transposeB;
};
Matmul matmul(const tbem_op_desc& op);

/// attention and its gradient: `outer` x `heads` products of [l, d] with [m, d] and [m, e]; heads is the last leading dimension.
struct Attention {
  std::int64_t outer, heads, l, m, d, e;
  bool causal;
};
Attention attention(const tbem_op_desc& op);

struct Pool2d {
  std::int64_t n, c, h, w, oh, ow, kh, kw, strideH, strideW, top, left;
  bool includePad;
};
/// Of any pooling primitive, adaptive ones included (kernel and stride are then 0).
Pool2d pool2d(const tbem_op_desc& op);

}  // namespace tbem::runtime
