// reduce_sum, reduce_max and its gradient, sum_squares.
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/ops/Reduction.h"

#include <array>
#include <cstdio>

namespace tbem::cuda {
namespace {

/// Whether images whose channels are last can be reduced as they lie: what is left stands in the order of the result.
bool reducesChannelsLast(const tbem_op_desc& op) {
  if (op.primitive == TBEM_PRIMITIVE_sum_squares) return true;
  if (op.primitive == TBEM_PRIMITIVE_reduce_max_gradient || op.operands[0].rank != 4) return false;
  std::array<bool, 4> kept{true, true, true, true};
  for (int i = 0; i < op.attributes[0]; ++i) kept[static_cast<std::size_t>(op.attributes[1 + i])] = false;
  return !kept[1] || (!kept[2] && !kept[3]);
}

/// The operand that is reduced, and over which axes.
Reduction planOf(const tbem_op_desc& op) {
  Reduced reduced{};
  if (op.primitive == TBEM_PRIMITIVE_sum_squares) return reductionOfAll(runtime::elementCount(op.operands[0]));
  const ImageOrder order = reducesChannelsLast(op) ? orderOf(op) : ImageOrder::RowMajor;
  for (int i = 0; i < op.attributes[0]; ++i)
    reduced[static_cast<std::size_t>(axisAsItLies(order, static_cast<int>(op.attributes[1 + i])))] = true;
  return reductionOver(asItLies(op.operands[op.primitive == TBEM_PRIMITIVE_reduce_max_gradient ? 1 : 0]), reduced);
}

std::uint64_t sumBytes(const tbem_op_desc& op) {
  return op.primitive == TBEM_PRIMITIVE_reduce_max ? sizeof(float) : sizeof(double);
}

ReductionKernels sumKernels(int from, int to) {
  if (from == TBEM_BF16) {
    return to == TBEM_BF16 ? TBEM_REDUCTION_KERNELS(Reduce, sum_bf16_bf16) : TBEM_REDUCTION_KERNELS(Reduce, sum_bf16_f32);
  }
  if (from == TBEM_F16) {
    return to == TBEM_F16 ? TBEM_REDUCTION_KERNELS(Reduce, sum_f16_f16) : TBEM_REDUCTION_KERNELS(Reduce, sum_f16_f32);
  }
  if (to == TBEM_F16) return TBEM_REDUCTION_KERNELS(Reduce, sum_f32_f16);
  return to == TBEM_BF16 ? TBEM_REDUCTION_KERNELS(Reduce, sum_f32_bf16) : TBEM_REDUCTION_KERNELS(Reduce, sum_f32_f32);
}

ReductionKernels kernelsOf(const tbem_op_desc& op) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_reduce_sum:
      return sumKernels(op.operands[0].dtype, op.operands[1].dtype);
    case TBEM_PRIMITIVE_reduce_max:
      return TBEM_REDUCTION_KERNELS(Reduce, max);
    case TBEM_PRIMITIVE_sum_squares:
      return TBEM_REDUCTION_KERNELS(Reduce, squares);
    default:
      return TBEM_REDUCTION_KERNELS(Reduce, equal);
  }
}

class Reduce final : public Op {
public:
  explicit Reduce(const tbem_op_desc& from) : Op(from), plan_(planOf(desc)), kernels_(kernelsOf(desc)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    return reduce(kernels_, plan_, ReduceOperands{memory[0], nullptr, memory[1]}, work);
  }

private:
  Reduction plan_;
  ReductionKernels kernels_;
};

/// How many elements of x share each result's gradient, then the gradient of each. In the workspace, where several blocks count
/// for one result: the numbers, then shares.
class ReduceMaxGradient final : public Op {
public:
  explicit ReduceMaxGradient(const tbem_op_desc& from) : Op(from), plan_(planOf(desc)) {
    const tbem_operand& x = operands[1];
    std::vector<Axis> axes;
    std::int64_t step = 1;
    std::vector<bool> reduced(static_cast<std::size_t>(x.rank));
    for (std::int64_t i = 0; i < attributes[0]; ++i)
      reduced[static_cast<std::size_t>(attributes[static_cast<std::size_t>(1 + i)])] = true;
    for (int d = x.rank; d-- > 0;) {
      const bool dropped = reduced[static_cast<std::size_t>(d)];
      axes.insert(axes.begin(), {x.dims[d], dropped ? 0 : step});
      if (!dropped) step *= x.dims[d];
    }
    narrow_.axes = axesOf<std::uint32_t, kMostAxes>(axes);
    large_.axes = axesOf<std::uint64_t, kMostAxes>(axes);
  }

  tbem_status run(void* const* memory, void* work, const double*) override {
    const auto real = [memory](int k) { return static_cast<float*>(memory[k]); };
    const MaxGradientOperands of{real(0), real(1), real(2), real(3)};
    if (runtime::elementCount(operands[1]) == 0) return TBEM_OK;
    if (plan_.shares == 1) {
      const Grid grid{plan_.blocks, kThreads};
      return plan_.wide ? launch({"Reduce", "tbem_Reduce_maxGradientWhole_64"}, grid, plan_.large, of)
                        : launch({"Reduce", "tbem_Reduce_maxGradientWhole_32"}, grid, plan_.narrow, of);
    }
    auto* const equal = static_cast<double*>(work);
    const ReduceOperands counted{of.x, of.largest, equal};
    if (const tbem_status status = reduce(kernelsOf(desc), plan_, counted, equal + plan_.outputs)) return status;
    return plan_.wide ? spread(large_, "tbem_Reduce_maxGradient_64", of, equal)
                      : spread(narrow_, "tbem_Reduce_maxGradient_32", of, equal);
  }

private:
  template <class Index>
  tbem_status spread(MaxGradient<Index> m, const char* kernel, const MaxGradientOperands& of, const double* equal) const {
    const std::int64_t count = runtime::elementCount(operands[1]);
    m.of = of;
    m.equal = equal;
    m.count = static_cast<Index>(count);
    return launch({"Reduce", kernel}, {blocksFor(count), kThreads}, m);
  }

  Reduction plan_;
  MaxGradient<std::uint32_t> narrow_{};
  MaxGradient<std::uint64_t> large_{};
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = reducesChannelsLast(op) ? imageLayouts(op) : plainLayouts(op)) return status;
  const Reduction plan = planOf(op);
  const bool gradient = op.primitive == TBEM_PRIMITIVE_reduce_max_gradient;
  info.workspace = plan.bytes(sumBytes(op));
  if (gradient && plan.shares > 1) info.workspace += static_cast<std::uint64_t>(plan.outputs) * sizeof(double);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:%s", plan.shares > 1 ? "shares" : "whole");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (op.primitive == TBEM_PRIMITIVE_reduce_max_gradient) {
    out = std::make_unique<ReduceMaxGradient>(op);
  } else {
    out = std::make_unique<Reduce>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family reduceFamily() { return {query, create}; }

}  // namespace tbem::cuda
