// softmax, log_softmax, cross_entropy and their gradients.
#include "runtime/backends/cuda/device/ErrorWord.h"
#include "runtime/backends/cuda/ops/Reduction.h"

#include <cstdio>

namespace tbem::cuda {
namespace {

/// The kernels of a primitive and a type: of lines with numbers of 32 and 64 bits, of rows in the registers of warps.
struct LineKernels {
  const char *file, *narrow, *wide, *warps8 = nullptr, *warps32 = nullptr;

  Kernel of(const LinePlan& plan) const {
    if (plan.each != 0 && warps8 != nullptr) return {file, plan.each == 8 ? warps8 : warps32};
    return {file, plan.wide ? wide : narrow};
  }
};
#define TBEM_LINE_KERNELS(file, kind)                                                                       \
  LineKernels {                                                                                             \
#file, "tbem_" #file "_" #kind "_32", "tbem_" #file "_" #kind "_64", "tbem_" #file "_" #kind "Warps_8", \
        "tbem_" #file "_" #kind "Warps_32"                                                                  \
  }
#define TBEM_SOFTMAX_OF_TYPE(type, kind) \
  ofType(type, TBEM_LINE_KERNELS(Softmax, kind), TBEM_LINE_KERNELS(SoftmaxBf16, kind), TBEM_LINE_KERNELS(SoftmaxF16, kind))

LineKernels softmaxKernels(int primitive, int type) {
  switch (primitive) {
    case TBEM_PRIMITIVE_softmax:
      return TBEM_SOFTMAX_OF_TYPE(type, plain);
    case TBEM_PRIMITIVE_log_softmax:
      return TBEM_SOFTMAX_OF_TYPE(type, log);
    case TBEM_PRIMITIVE_softmax_gradient:
      return TBEM_SOFTMAX_OF_TYPE(type, plainGradient);
    default:
      return TBEM_SOFTMAX_OF_TYPE(type, logGradient);
  }
}

template <class... Parameters>
tbem_status startLines(const LinePlan& plan, const Kernel& kernel, Parameters... parameters) {
  if (plan.blocks == 0) return TBEM_OK;
  const Grid grid{plan.blocks, plan.threads};
  return plan.wide ? launch(kernel, grid, plan.large, parameters...) : launch(kernel, grid, plan.narrow, parameters...);
}

class Softmax final : public Op {
public:
  explicit Softmax(const tbem_op_desc& from)
      : Op(from),
        plan_(linesOf(operands[0], attributes[0])),
        kernel_(softmaxKernels(desc.primitive, operands[0].dtype).of(plan_)) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const void *const first = memory[0], *const second = memory[1];
    return desc.inputs == 1 ? startLines(plan_, kernel_, first, memory[1]) : startLines(plan_, kernel_, first, second, memory[2]);
  }

private:
  LinePlan plan_;
  Kernel kernel_;
};

/// Of a cross entropy, which has none of warps.
#define TBEM_ENTROPY_KERNELS(name, type) \
  LineKernels { "Entropy", "tbem_Entropy_" #name "_" #type "_32", "tbem_Entropy_" #name "_" #type "_64" }
/// By the type of the logits.
#define TBEM_ENTROPY_OF_TYPE(type, name) \
  ofType(type, TBEM_ENTROPY_KERNELS(name, f32), TBEM_ENTROPY_KERNELS(name, bf16), TBEM_ENTROPY_KERNELS(name, f16))

/// The terms of all lines, then their mean. In the workspace: the terms, then the shares of the sum.
class Entropy final : public Op {
public:
  Entropy(const tbem_op_desc& from, DevicePointer word)
      : Op(from),
        plan_(linesOf(operands[0], attributes[0])),
        mean_(meanOf(desc)),
        word_(word),
        kernel_(TBEM_ENTROPY_OF_TYPE(operands[0].dtype, terms).of(plan_)) {}

  static Reduction meanOf(const tbem_op_desc& op) { return reductionOfAll(runtime::elementCount(op.operands[1])); }
  static std::uint64_t bytes(const tbem_op_desc& op) {
    const Reduction mean = meanOf(op);
    return static_cast<std::uint64_t>(mean.count) * sizeof(double) + mean.bytes(2 * sizeof(double));
  }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const EntropyLines of{memory[0], static_cast<const std::int64_t*>(memory[1]), reinterpret_cast<std::uint64_t*>(word_),
                          scalars[0]};
    auto* const terms = static_cast<double*>(work);
    if (const tbem_status status = startLines(plan_, kernel_, of, terms)) return status;
    return reduce(TBEM_REDUCTION_KERNELS(Entropy, mean), mean_, EntropyOperands{terms, of.target, memory[2]},
                  terms + mean_.count);
  }

private:
  LinePlan plan_;
  Reduction mean_;
  DevicePointer word_;
  Kernel kernel_;
};

/// How many lines have a class, then the gradient. In the workspace: their number, then the shares of it.
class EntropyGradient final : public Op {
public:
  EntropyGradient(const tbem_op_desc& from, DevicePointer word)
      : Op(from),
        plan_(linesOf(operands[1], attributes[0])),
        count_(countOf(desc)),
        word_(word),
        kernel_(TBEM_ENTROPY_OF_TYPE(operands[1].dtype, gradient).of(plan_)) {}

  static Reduction countOf(const tbem_op_desc& op) { return reductionOfAll(runtime::elementCount(op.operands[2])); }
  static std::uint64_t bytes(const tbem_op_desc& op) { return sizeof(double) + countOf(op).bytes(sizeof(double)); }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const EntropyLines of{memory[1], static_cast<const std::int64_t*>(memory[2]), reinterpret_cast<std::uint64_t*>(word_),
                          scalars[0]};
    auto* const count = static_cast<double*>(work);
    const EntropyOperands counted{nullptr, of.target, count};
    if (const tbem_status status = reduce(TBEM_REDUCTION_KERNELS(Entropy, count), count_, counted, count + 1)) return status;
    return startLines(plan_, kernel_, of, static_cast<const float*>(memory[0]), static_cast<const double*>(count), memory[3]);
  }

private:
  LinePlan plan_;
  Reduction count_;
  DevicePointer word_;
  Kernel kernel_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  if (op.primitive == TBEM_PRIMITIVE_cross_entropy) info.workspace = Entropy::bytes(op);
  if (op.primitive == TBEM_PRIMITIVE_cross_entropy_gradient) info.workspace = EntropyGradient::bytes(op);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:lines");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const bool entropy = op.primitive == TBEM_PRIMITIVE_cross_entropy;
  if (!entropy && op.primitive != TBEM_PRIMITIVE_cross_entropy_gradient) {
    out = std::make_unique<Softmax>(op);
    return TBEM_OK;
  }
  DevicePointer word = 0;
  if (const tbem_status status = errorWord(word)) return status;
  if (entropy) {
    out = std::make_unique<Entropy>(op, word);
  } else {
    out = std::make_unique<EntropyGradient>(op, word);
  }
  return TBEM_OK;
}

}  // namespace

Family softmaxFamily() { return {query, create}; }

}  // namespace tbem::cuda
