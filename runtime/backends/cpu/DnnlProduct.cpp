// Matrix products and reorders by oneDNN. The dense layer and its gradients are products of row-major matrices: the library's
// batch-reduced kernels read a transposed operand in place and take their packing space from the caller.
#include "runtime/backends/cpu/Dnnl.h"

#include <fmt/format.h>

#include <cstdio>

namespace tbem::cpu {
namespace {

using namespace onednn;

/// result = left right (+ bias), all seen as [batch, rows, columns]; numbers are operands of the description.
struct Product {
  std::int64_t batch, m, k, n;
  int left, right, bias, result;
  bool leftTransposed, rightTransposed;
};

Product productOf(const tbem_op_desc& op) {
  if (op.primitive == TBEM_PRIMITIVE_matmul) {
    const runtime::Matmul p = runtime::matmul(op);
    return {p.batch, p.m, p.k, p.n, 0, 1, -1, 2, p.transposeA, p.transposeB};
  }
  const runtime::Dense d = runtime::dense(op);
  switch (op.primitive) {
    case TBEM_PRIMITIVE_dense:
      return {1, d.rows, d.in, d.out, 0, 1, op.operands[2].present ? 2 : -1, 3, false, true};
    case TBEM_PRIMITIVE_dense_input_gradient:
      return {1, d.rows, d.out, d.in, 0, 1, -1, 2, false, false};
    default:
      return {1, d.out, d.rows, d.in, 1, 0, -1, 2, true, false};
  }
}

dnnl_memory_desc_t matrix(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  const dnnl_dim_t dims[3] = {batch, rows, columns};
  const dnnl_dim_t strides[3] = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
  return batch == 1 ? describeStrided(2, dims + 1, strides + 1) : describeStrided(3, dims, strides);
}

struct Prepared {
  Descriptor descriptor;
  std::vector<Argument> arguments;
};

Prepared prepare(const tbem_op_desc& op) {
  const Product p = productOf(op);
  const dnnl_memory_desc_t left = matrix(p.batch, p.m, p.k, p.leftTransposed),
                           right = matrix(p.batch, p.k, p.n, p.rightTransposed);
  const dnnl_memory_desc_t result = matrix(p.batch, p.m, p.n, false), bias = matrix(1, 1, p.n, false);
  dnnl_matmul_desc_t made;
  Prepared prepared;
  if (dnnl_matmul_desc_init(&made, &left, &right, p.bias >= 0 ? &bias : nullptr, &result) != dnnl_success) return prepared;
  prepared.descriptor = describe(&made, threadsOf(op));
  prepared.arguments = {{DNNL_ARG_SRC, p.left, left}, {DNNL_ARG_WEIGHTS, p.right, right}, {DNNL_ARG_DST, p.result, result}};
  if (p.bias >= 0) prepared.arguments.push_back({DNNL_ARG_BIAS, p.bias, bias});
  return prepared;
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
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (!operand.present) continue;
    if (operand.layout.any) runtime::setPlain(operand);
    if (!runtime::isPlain(operand)) return unsupported(op, "row-major matrices only");
  }
  const Prepared prepared = prepare(op);
  if (!prepared.descriptor) return unsupported(op, "oneDNN has no such product");
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
  const dnnl_memory_desc_t from = describeOperand(op.operands[0]), to = describeOperand(op.operands[1]);
  dnnl_primitive_desc_t made = nullptr;
  useThreads(threadsOf(op));
  if (dnnl_reorder_primitive_desc_create(&made, &from, engine(), &to, engine(), attributes()) != dnnl_success) return {};
  return Descriptor(made);
}

bool libraryReorders(const tbem_op_desc& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  return x.rank > 0 && x.dtype == TBEM_F32 && y.dtype == TBEM_F32 && !runtime::sameLayout(x, y);
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
