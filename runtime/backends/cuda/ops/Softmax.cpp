// softmax, log_softmax, cross_entropy and their gradients.
#include "runtime/backends/cuda/device/ErrorWord.h"
#include "runtime/backends/cuda/ops/Reduction.h"

#include <cstdio>

namespace tbem::cuda {
namespace {

template <class... Parameters>
tbem_status startLines(const LinePlan& plan, const char* file, const char* narrow, const char* wide, Parameters... parameters) {
  if (plan.blocks == 0) return TBEM_OK;
  const Grid grid{plan.blocks, plan.threads};
  return plan.wide ? launch({file, wide}, grid, plan.large, parameters...)
                   : launch({file, narrow}, grid, plan.narrow, parameters...);
}
#define TBEM_LINES(plan, file, name, ...) \
  startLines(plan, #file, "tbem_" #file "_" #name "_32", "tbem_" #file "_" #name "_64", __VA_ARGS__)

const float* readable(void* memory) { return static_cast<const float*>(memory); }
float* writable(void* memory) { return static_cast<float*>(memory); }

class Softmax final : public Op {
public:
  explicit Softmax(const tbem_op_desc& from) : Op(from), plan_(linesOf(operands[0], attributes[0])) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const float *first = readable(memory[0]), *second = readable(memory[1]);
    if (plan_.each != 0) return runWarps(memory);
    switch (desc.primitive) {
      case TBEM_PRIMITIVE_softmax:
        return TBEM_LINES(plan_, Softmax, plain, first, writable(memory[1]));
      case TBEM_PRIMITIVE_log_softmax:
        return TBEM_LINES(plan_, Softmax, log, first, writable(memory[1]));
      case TBEM_PRIMITIVE_softmax_gradient:
        return TBEM_LINES(plan_, Softmax, plainGradient, first, second, writable(memory[2]));
      default:
        return TBEM_LINES(plan_, Softmax, logGradient, first, second, writable(memory[2]));
    }
  }

private:
  tbem_status runWarps(void* const* memory) const {
    if (plan_.blocks == 0) return TBEM_OK;
    const Grid grid{plan_.blocks, plan_.threads};
    const bool few = plan_.each == 8;
    const auto forward = [&](const char* kernel) {
      return launch({"Softmax", kernel}, grid, plan_.narrow, readable(memory[0]), writable(memory[1]));
    };
    const auto backward = [&](const char* kernel) {
      return launch({"Softmax", kernel}, grid, plan_.narrow, readable(memory[0]), readable(memory[1]), writable(memory[2]));
    };
    switch (desc.primitive) {
      case TBEM_PRIMITIVE_softmax:
        return forward(few ? "tbem_Softmax_plainWarps_8" : "tbem_Softmax_plainWarps_32");
      case TBEM_PRIMITIVE_log_softmax:
        return forward(few ? "tbem_Softmax_logWarps_8" : "tbem_Softmax_logWarps_32");
      case TBEM_PRIMITIVE_softmax_gradient:
        return backward(few ? "tbem_Softmax_plainGradientWarps_8" : "tbem_Softmax_plainGradientWarps_32");
      default:
        return backward(few ? "tbem_Softmax_logGradientWarps_8" : "tbem_Softmax_logGradientWarps_32");
    }
  }

  LinePlan plan_;
};

/// The terms of all lines, then their mean. In the workspace: the terms, then the shares of the sum.
class Entropy final : public Op {
public:
  Entropy(const tbem_op_desc& from, DevicePointer word)
      : Op(from), plan_(linesOf(operands[0], attributes[0])), mean_(meanOf(desc)), word_(word) {}

  static Reduction meanOf(const tbem_op_desc& op) { return reductionOfAll(runtime::elementCount(op.operands[1])); }
  static std::uint64_t bytes(const tbem_op_desc& op) {
    const Reduction mean = meanOf(op);
    return static_cast<std::uint64_t>(mean.count) * sizeof(double) + mean.bytes(2 * sizeof(double));
  }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const EntropyLines of{readable(memory[0]), static_cast<const std::int64_t*>(memory[1]),
                          reinterpret_cast<std::uint64_t*>(word_), scalars[0]};
    auto* const terms = static_cast<double*>(work);
    if (const tbem_status status = TBEM_LINES(plan_, Entropy, terms, of, terms)) return status;
    return reduce(TBEM_REDUCTION_KERNELS(Entropy, mean), mean_, EntropyOperands{terms, of.target, memory[2]},
                  terms + mean_.count);
  }

private:
  LinePlan plan_;
  Reduction mean_;
  DevicePointer word_;
};

/// How many lines have a class, then the gradient. In the workspace: their number, then the shares of it.
class EntropyGradient final : public Op {
public:
  EntropyGradient(const tbem_op_desc& from, DevicePointer word)
      : Op(from), plan_(linesOf(operands[1], attributes[0])), count_(countOf(desc)), word_(word) {}

  static Reduction countOf(const tbem_op_desc& op) { return reductionOfAll(runtime::elementCount(op.operands[2])); }
  static std::uint64_t bytes(const tbem_op_desc& op) { return sizeof(double) + countOf(op).bytes(sizeof(double)); }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const EntropyLines of{readable(memory[1]), static_cast<const std::int64_t*>(memory[2]),
                          reinterpret_cast<std::uint64_t*>(word_), scalars[0]};
    auto* const count = static_cast<double*>(work);
    const EntropyOperands counted{nullptr, of.target, count};
    if (const tbem_status status = reduce(TBEM_REDUCTION_KERNELS(Entropy, count), count_, counted, count + 1)) return status;
    return TBEM_LINES(plan_, Entropy, gradient, of, readable(memory[0]), static_cast<const double*>(count), writable(memory[3]));
  }

private:
  LinePlan plan_;
  Reduction count_;
  DevicePointer word_;
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
