// gather, gather_gradient, arg_max, constant.
#include "runtime/backends/cuda/device/ErrorWord.h"
#include "runtime/backends/cuda/ops/Reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tbem::cuda {
namespace {

bool isAligned(const void* address, std::uint64_t bytes) { return reinterpret_cast<std::uintptr_t>(address) % bytes == 0; }

class Gather final : public Op {
public:
  Gather(const tbem_op_desc& from, DevicePointer word) : Op(from), word_(word) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    if (runtime::elementCount(operands[2]) == 0) return TBEM_OK;
    const std::uint64_t size = runtime::elementBytes(operands[0].dtype);
    const runtime::Lines x = runtime::linesAlong(operands[0], attributes[0]);
    std::uint64_t bytes = 16;  // as many bytes at once as lie together
    while (bytes > size && ((static_cast<std::uint64_t>(x.inner) * size) % bytes != 0 || !isAligned(memory[0], bytes) ||
                            !isAligned(memory[2], bytes))) {
      bytes /= 2;
    }
    const auto together = static_cast<std::int64_t>(bytes / size);
    const bool wide = isWide(std::max(runtime::elementCount(operands[0]), runtime::elementCount(operands[2])));
    return wide ? start<std::uint64_t>(x, together, bytes, memory) : start<std::uint32_t>(x, together, bytes, memory);
  }

private:
  template <class Index>
  tbem_status start(const runtime::Lines& x, std::int64_t together, std::uint64_t bytes, void* const* memory) const {
    GatherShape<Index> shape;
    const std::int64_t count = runtime::elementCount(operands[2]) / together;
    shape.numbers = dividerBy<Index>(runtime::elementCount(operands[1]));
    shape.inner = dividerBy<Index>(x.inner / together);
    shape.length = static_cast<Index>(x.length);
    shape.count = static_cast<Index>(count);
    shape.index = static_cast<const std::int64_t*>(memory[1]);
    shape.word = reinterpret_cast<std::uint64_t*>(word_);
    const void* const from = memory[0];
    return launch(TBEM_SIZED_KERNELS(Gather).of(bytes, sizeof(Index) == sizeof(std::uint64_t)), {blocksFor(count), kThreads},
                  shape, from, memory[2]);
  }

  DevicePointer word_;
};

struct ScatterKernels {
  const char *each, *together, *often;
};
#define TBEM_SCATTER_KERNELS(type, bits)                                                                                    \
  ScatterKernels {                                                                                                          \
    "tbem_Scatter_sum_" #type "_" #bits, "tbem_Scatter_sumTogether_" #type "_" #bits, "tbem_Scatter_often_" #type "_" #bits \
  }
#define TBEM_SCATTER_OF_TYPE(type, bits) \
  ofType(type, TBEM_SCATTER_KERNELS(f32, bits), TBEM_SCATTER_KERNELS(bf16, bits), TBEM_SCATTER_KERNELS(f16, bits))

/// In the workspace: the keys, then where those of each number begin and end.
class GatherGradient final : public Op {
public:
  GatherGradient(const tbem_op_desc& from, DevicePointer word) : Op(from), dx_(linesOf(desc)), word_(word) {}

  static runtime::Lines linesOf(const tbem_op_desc& op) { return runtime::linesAlong(op.operands[2], op.attributes[0]); }
  static std::uint64_t room(const tbem_op_desc& op) {
    const auto numbers = static_cast<std::uint64_t>(runtime::elementCount(op.operands[1]));
    return std::bit_ceil(std::max<std::uint64_t>(numbers, 2));
  }
  static std::uint64_t bytes(const tbem_op_desc& op) {
    return room(op) * sizeof(std::uint64_t) + 2 * static_cast<std::uint64_t>(linesOf(op).length) * sizeof(std::uint32_t);
  }

  tbem_status run(void* const* memory, void* work, const double*) override {
    const std::int64_t count = runtime::elementCount(operands[2]);
    if (count == 0) return TBEM_OK;
    ScatterOrder order{};
    order.index = static_cast<const std::int64_t*>(memory[1]);
    order.word = reinterpret_cast<std::uint64_t*>(word_);
    order.keys = static_cast<std::uint64_t*>(work);
    order.room = static_cast<std::uint32_t>(room(desc));
    order.numbers = static_cast<std::uint32_t>(runtime::elementCount(operands[1]));
    order.length = static_cast<std::uint64_t>(dx_.length);
    order.first = reinterpret_cast<std::uint32_t*>(order.keys + order.room);
    order.last = order.first + order.length;
    if (const tbem_status status = sort(order)) return status;
    const bool wide = isWide(std::max(count, runtime::elementCount(operands[0])));
    return wide ? sum<std::uint64_t>(order, TBEM_SCATTER_OF_TYPE(operands[0].dtype, 64), memory)
                : sum<std::uint32_t>(order, TBEM_SCATTER_OF_TYPE(operands[0].dtype, 32), memory);
  }

private:
  tbem_status sort(const ScatterOrder& order) const {
    const Grid own{(order.room - 1) / kSortedTogether + 1, kThreads}, pairs{blocksFor(order.room / 2), kThreads};
    if (const tbem_status status = launch({"Scatter", "tbem_Scatter_clear"}, {blocksFor(dx_.length), kThreads}, order))
      return status;
    if (const tbem_status status = launch({"Scatter", "tbem_Scatter_sort"}, own, order)) return status;
    for (std::uint32_t run = 2 * kSortedTogether; run <= order.room && run != 0; run *= 2) {
      for (std::uint32_t distance = run / 2; distance >= kSortedTogether; distance /= 2) {
        if (const tbem_status status = launch({"Scatter", "tbem_Scatter_exchange"}, pairs, order, run, distance)) return status;
      }
      if (const tbem_status status = launch({"Scatter", "tbem_Scatter_merge"}, own, order, run)) return status;
    }
    if (order.numbers == 0) return TBEM_OK;
    return launch({"Scatter", "tbem_Scatter_bounds"}, {blocksFor(order.numbers), kThreads}, order);
  }

  template <class Index>
  tbem_status sum(const ScatterOrder& order, const ScatterKernels& kernels, void* const* memory) const {
    const auto elements = static_cast<std::int64_t>(kTogetherBytes / runtime::elementBytes(operands[0].dtype));
    const bool together =
        dx_.inner % elements == 0 && isAligned(memory[0], kTogetherBytes) && isAligned(memory[2], kTogetherBytes);
    const std::int64_t piece = together ? elements : 1, count = runtime::elementCount(operands[2]) / piece;
    ScatterShape<Index> shape;
    shape.length = dividerBy<Index>(dx_.length);
    shape.inner = dividerBy<Index>(dx_.inner / piece);
    shape.count = static_cast<Index>(count);
    shape.numbers = order.numbers;
    const void* const dy = memory[0];
    const Kernel each{"Scatter", together ? kernels.together : kernels.each};
    if (const tbem_status status = launch(each, {blocksFor(count), kThreads}, shape, order, dy, memory[2])) return status;
    if (order.numbers <= kOften) return TBEM_OK;
    const std::int64_t slices = quotientUp(dx_.inner, kSlice), places = quotientUp(order.numbers, kOften);
    shape.inner = dividerBy<Index>(dx_.inner);
    shape.slices = dividerBy<Index>(slices);
    shape.places = dividerBy<Index>(places);
    const Grid grid{static_cast<std::uint32_t>(dx_.outer * places * slices), kThreads};
    return launch({"Scatter", kernels.often}, grid, shape, order, dy, memory[2]);
  }

  runtime::Lines dx_;
  DevicePointer word_;
};

Reduction alongAxis(const tbem_op_desc& op) {
  Reduced reduced{};
  reduced[static_cast<std::size_t>(op.attributes[0])] = true;
  return reductionOver(op.operands[0], reduced);
}

class ArgMax final : public Op {
public:
  static constexpr std::uint64_t kSumBytes = 16;  // a number and its value (kernels/ArgMax.cu)
  explicit ArgMax(const tbem_op_desc& from) : Op(from), plan_(alongAxis(desc)) {}
  tbem_status run(void* const* memory, void* work, const double*) override {
    const ReduceOperands of{static_cast<const float*>(memory[0]), nullptr, memory[1]};
    return reduce(TBEM_REDUCTION_KERNELS(ArgMax, first), plan_, of, work);
  }

private:
  Reduction plan_;
};

class Constant final : public Op {
public:
  using Op::Op;
  tbem_status run(void* const* memory, void*, const double* scalars) override {
    constexpr std::int64_t kTogether = sizeof(Values) / sizeof(float);
    const std::int64_t count = operands[0].dims[0];
    for (std::int64_t first = 0; first < count; first += kTogether) {
      const std::int64_t some = std::min(kTogether, count - first);
      Values values{};
      std::transform(scalars + first, scalars + first + some, values.values,
                     [](double value) { return static_cast<float>(value); });
      const tbem_status status = launch({"Gather", "tbem_Gather_constant"}, {blocksFor(some), kThreads}, values,
                                        static_cast<float*>(memory[0]) + first, static_cast<std::uint32_t>(some));
      if (status != TBEM_OK) return status;
    }
    return TBEM_OK;
  }
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  if (op.primitive == TBEM_PRIMITIVE_arg_max) info.workspace = alongAxis(op).bytes(ArgMax::kSumBytes);
  if (op.primitive == TBEM_PRIMITIVE_gather_gradient) {
    const std::int64_t numbers = runtime::elementCount(op.operands[1]), length = GatherGradient::linesOf(op).length;
    if (std::max(numbers, length) >= kWide) {
      return fail(TBEM_UNSUPPORTED,
                  fmt::format("cuda: gather_gradient of {} numbers along an axis of {}; fewer than {} of each are taken", numbers,
                              length, kWide));
    }
    info.workspace = GatherGradient::bytes(op);
  }
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:%s",
                op.primitive == TBEM_PRIMITIVE_gather_gradient ? "sorted" : "index");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (op.primitive == TBEM_PRIMITIVE_arg_max) {
    out = std::make_unique<ArgMax>(op);
    return TBEM_OK;
  }
  if (op.primitive == TBEM_PRIMITIVE_constant) {
    out = std::make_unique<Constant>(op);
    return TBEM_OK;
  }
  DevicePointer word = 0;
  if (const tbem_status status = errorWord(word)) return status;
  if (op.primitive == TBEM_PRIMITIVE_gather) {
    out = std::make_unique<Gather>(op, word);
  } else {
    out = std::make_unique<GatherGradient>(op, word);
  }
  return TBEM_OK;
}

}  // namespace

Family indexFamily() { return {query, create}; }

}  // namespace tbem::cuda
