// Matrix products and reorders by oneDNN. The dense layer and its gradients are products of row-major matrices, a batched product
// takes its operands in any order of dimensions: the library's batch-reduced kernels read a transposed operand in place and take
// their packing space from the caller.
#include "runtime/backends/cpu/dnnl/Dnnl.h"
#include "runtime/backends/cpu/ops/ProductOperands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tbem::cpu {
namespace {

using namespace onednn;

struct Prepared {
  Descriptor descriptor;
  std::vector<Argument> arguments;
};

/// result = left right (+ bias).
Prepared prepareProduct(const tbem_op_desc& op, const Argument& left, const Argument& right, const Argument* bias,
                        const Argument& result) {
  dnnl_matmul_desc_t made;
  Prepared prepared;
  if (dnnl_matmul_desc_init(&made, &left.memory, &right.memory, bias != nullptr ? &bias->memory : nullptr, &result.memory) !=
      dnnl_success)
    return prepared;
  prepared.descriptor = describe(&made, threadsOf(op));
  prepared.arguments = {left, right, result};
  if (bias != nullptr) prepared.arguments.push_back(*bias);
  return prepared;
}

/// A weight with more inputs than outputs is better transposed: from 1024 to 256 features, 512 rows, forward takes 0.80 ms for
/// 0.89, the weight's gradient 0.85 for 0.94 and the input's 0.84 for 0.80; from 256 to 1024 it is the other way round. (Few rows
/// are the business of ThinProduct.cpp, which reads it row by row.)
bool betterTransposed(const tbem_op_desc& op) {
  const runtime::Dense d = runtime::dense(op);
  return d.rows > kThinRows && d.in >= 2 * d.out && d.out >= 16 && op.operands[0].dtype == TBEM_F32;
}

Argument matrix(const tbem_op_desc& op, int name, int operand, std::int64_t rows, std::int64_t columns, bool transposed) {
  const dnnl_dim_t dims[2] = {rows, columns};
  const dnnl_dim_t strides[2] = {transposed ? 1 : columns, transposed ? rows : 1};
  return {name, operand, describeStrided(dataType(op.operands[operand]), 2, dims, strides)};
}

/// The dense layer and its gradients: leading dimensions are rows.
Prepared prepareDense(const tbem_op_desc& op) {
  const runtime::Dense d = runtime::dense(op);
  const bool transposed = liesTransposed(op.operands[weightOf(op)]);
  if (op.primitive == TBEM_PRIMITIVE_dense) {
    const Argument bias = matrix(op, DNNL_ARG_BIAS, 2, 1, d.out, false);
    return prepareProduct(op, matrix(op, DNNL_ARG_SRC, 0, d.rows, d.in, false),
                          matrix(op, DNNL_ARG_WEIGHTS, 1, d.in, d.out, !transposed), op.operands[2].present ? &bias : nullptr,
                          matrix(op, DNNL_ARG_DST, 3, d.rows, d.out, false));
  }
  if (op.primitive == TBEM_PRIMITIVE_dense_input_gradient) {
    return prepareProduct(op, matrix(op, DNNL_ARG_SRC, 0, d.rows, d.out, false),
                          matrix(op, DNNL_ARG_WEIGHTS, 1, d.out, d.in, transposed), nullptr,
                          matrix(op, DNNL_ARG_DST, 2, d.rows, d.in, false));
  }
  if (transposed) {
    return prepareProduct(op, matrix(op, DNNL_ARG_SRC, 0, d.in, d.rows, true),
                          matrix(op, DNNL_ARG_WEIGHTS, 1, d.rows, d.out, false), nullptr,
                          matrix(op, DNNL_ARG_DST, 2, d.in, d.out, false));
  }
  return prepareProduct(op, matrix(op, DNNL_ARG_SRC, 1, d.out, d.rows, true),
                        matrix(op, DNNL_ARG_WEIGHTS, 0, d.rows, d.in, false), nullptr,
                        matrix(op, DNNL_ARG_DST, 2, d.out, d.in, false));
}

/// An operand of a batched product where it lies: leading dimensions that it does not have are 1, the last two are exchanged in
/// the description where they are transposed.
Argument batched(int name, int number, const tbem_operand& operand, int rank, bool transposed) {
  dnnl_dim_t dims[TBEM_MAX_RANK], strides[TBEM_MAX_RANK];
  const int missing = rank - operand.rank;
  const std::int64_t whole = runtime::extentElements(operand);
  for (int d = 0; d < rank; ++d) {
    dims[d] = d < missing ? 1 : operand.dims[d - missing];
    strides[d] = d < missing || dims[d] == 1 ? whole : operand.layout.strides[d - missing];
  }
  // A matrix of one row or column is plain in whichever direction it runs.
  if (dims[rank - 1] == 1) strides[rank - 1] = 1;
  if (dims[rank - 2] == 1) strides[rank - 2] = dims[rank - 1] * strides[rank - 1];
  if (transposed) std::swap(dims[rank - 1], dims[rank - 2]), std::swap(strides[rank - 1], strides[rank - 2]);
  return {name, number, describeStrided(dataType(operand), rank, dims, strides)};
}

Prepared prepare(const tbem_op_desc& op) {
  if (op.primitive != TBEM_PRIMITIVE_matmul) return prepareDense(op);
  const runtime::Matmul p = runtime::matmul(op);
  const int rank = p.lead + 2;
  return prepareProduct(op, batched(DNNL_ARG_SRC, 0, op.operands[0], rank, p.transposeA),
                        batched(DNNL_ARG_WEIGHTS, 1, op.operands[1], rank, p.transposeB), nullptr,
                        batched(DNNL_ARG_DST, 2, op.operands[2], rank, false));
}

tbem_status unsupported(const tbem_op_desc& op, const char* why) {
  return fail(TBEM_UNSUPPORTED,
              fmt::format("cpu: {}: {}", runtime::signature(static_cast<tbem_primitive>(op.primitive)).name, why));
}

void answer(const Descriptor& descriptor, tbem_op_info& info) {
  info.workspace = descriptor.workspace();
  std::snprintf(info.implementation, sizeof info.implementation, "%s", std::string(descriptor.implementation()).c_str());
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  const bool batched = op.primitive == TBEM_PRIMITIVE_matmul;
  bool plain = true;
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (!operand.present) continue;
    const bool isWeight = !batched && k == weightOf(op);
    if (operand.layout.any && isWeight && betterTransposed(op)) {
      constexpr int kColumns[2] = {1, 0};
      runtime::setBlocked(operand, kColumns, {});
    }
    if (operand.layout.any) runtime::setPlain(operand);
    const bool isPlain = runtime::isPlain(operand);
    if (!isPlain && !(batched && isStrided(operand)) && !(isWeight && liesTransposed(operand)))
      return unsupported(op, "matrices without blocks only");
    plain = plain && isPlain;
  }
  const Prepared prepared = prepare(op);
  if (!prepared.descriptor) return unsupported(op, "oneDNN has no such product");
  if (!plain && rank(prepared.descriptor) == 0) return unsupported(op, "oneDNN has only loops for matrices that lie so");
  answer(prepared.descriptor, info);
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const Prepared prepared = prepare(op);
  if (!prepared.descriptor) return unsupported(op, "oneDNN has no such product");
  return makeOp(op, prepared.descriptor, prepared.arguments, out);
}

// ---- Reorders ---------------------------------------------------------------------------------------------------------

/// Empty where the library has no such reorder.
Descriptor reorderOf(const tbem_op_desc& op) {
  return describeReorder(describeOperand(op.operands[0]), describeOperand(op.operands[1]), threadsOf(op));
}

bool libraryReorders(const tbem_op_desc& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  const auto floats = [](const tbem_operand& o) { return o.dtype == TBEM_F32 || o.dtype == TBEM_BF16; };
  return x.rank > 0 && floats(x) && floats(y) && (x.dtype != y.dtype || !runtime::sameLayout(x, y));
}

tbem_status queryReorder(tbem_op_desc& op, tbem_op_info& info) {
  for (int k = 0; k < 2; ++k) {
    if (op.operands[k].layout.any) runtime::setPlain(op.operands[k]);
  }
  if (libraryReorders(op)) {
    if (const Descriptor made = reorderOf(op)) {
      answer(made, info);
      return TBEM_OK;
    }
  }
  return moveFamily().query(op, info);
}

tbem_status createReorder(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (libraryReorders(op)) {
    if (const Descriptor made = reorderOf(op)) {
      return makeOp(op, made,
                    {{DNNL_ARG_FROM, 0, describeOperand(op.operands[0])}, {DNNL_ARG_TO, 1, describeOperand(op.operands[1])}},
                    out);
    }
  }
  return moveFamily().create(op, out);
}

}  // namespace

Family productFamily() { return {query, create}; }
Family reorderFamily() { return {queryReorder, createReorder}; }

}  // namespace tbem::cpu
