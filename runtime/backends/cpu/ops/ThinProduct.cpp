// The dense layer and its gradients over few rows (a classifier at a small batch): algorithm 1 of these primitives. oneDNN packs
// the matrix of weights before it multiplies, which then takes longer than the product.
#include "runtime/backends/cpu/loops/ThinLoops.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/core/Primitive.h"

#include <algorithm>
#include <cstdio>

namespace tbem::cpu {
namespace {

constexpr std::int64_t kTogether = 64;  ///< outputs or inputs of one task: whole strips and blocks of the loops

class Thin final : public Op {
public:
  explicit Thin(const tbem_op_desc& from) : Op(from), shape_(runtime::dense(desc)) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const auto at = [&](int k) { return static_cast<float*>(memory[k]); };
    ThinProduct p;
    p.rows = shape_.rows, p.in = shape_.in, p.out = shape_.out;
    ThinLoop loop = ThinLoop::Forward;
    if (desc.primitive == TBEM_PRIMITIVE_dense) {
      p.x = at(0), p.w = at(1), p.bias = at(2), p.result = at(3);
    } else if (desc.primitive == TBEM_PRIMITIVE_dense_input_gradient) {
      loop = ThinLoop::InputGradient;
      p.dy = at(0), p.w = at(1), p.result = at(2);
    } else {
      loop = ThinLoop::WeightGradient;
      p.x = at(0), p.dy = at(1), p.result = at(2);
    }
    const std::int64_t all = loop == ThinLoop::InputGradient ? p.in : p.out, tasks = (all + kTogether - 1) / kTogether;
    parallelFor(threads, tasks, p.in * p.out,
                [&](std::int64_t task) { thinProduct(loop, p, task * kTogether, std::min(all, (task + 1) * kTogether)); });
    return TBEM_OK;
  }

private:
  runtime::Dense shape_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (!operand.present) continue;
    if (operand.layout.any) runtime::setPlain(operand);
    if (!runtime::isPlain(operand) || operand.dtype != TBEM_F32)
      return fail(TBEM_UNSUPPORTED, "cpu: products over few rows take row-major matrices of f32");
  }
  if (op.algorithm != 1 || runtime::dense(op).rows > kThinRows)
    return fail(TBEM_UNSUPPORTED, "cpu: a dense layer has another algorithm for up to 64 rows only");
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:thin");
  return TBEM_OK;
}

}  // namespace

Family thinFamily() { return Family::of<Thin>(query); }

}  // namespace tbem::cpu
