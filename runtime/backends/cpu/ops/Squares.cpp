// sum_squares: over the memory as it lies, in any layout, since padding is zero.
#include "runtime/backends/cpu/loops/ChannelLoops.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/backends/cpu/ops/View.h"

#include <algorithm>
#include <cstdio>

namespace tbem::cpu {
namespace {

constexpr std::int64_t kSlice = 16384;  ///< values a slice; slices are joined in order, whatever the threads

std::int64_t valuesOf(const tbem_operand& x) { return static_cast<std::int64_t>(x.layout.bytes / sizeof(float)); }
std::int64_t slicesOf(const tbem_operand& x) { return (valuesOf(x) + kSlice - 1) / kSlice; }

double sliceSum(const float* x, std::int64_t count) {
  const float zeros[16] = {};
  double lanes[32], rest[2], sum = 0;
  StripArguments s;
  s.a = s.b = x;
  s.mean = zeros, s.rows = count / 16, s.stride = 16, s.out = lanes;
  channelStrip(ChannelSum::Gradient, 16, s);
  s.a = s.b = x + count / 16 * 16;
  s.rows = count % 16, s.stride = 1, s.out = rest;
  channelStrip(ChannelSum::Gradient, 1, s);
  for (int i = 0; i < 16; ++i) sum += lanes[2 * i];
  return sum + rest[0];
}

class SumSquares final : public Op {
public:
  using Op::Op;

  tbem_status run(void* const* memory, void* work, const double*) override {
    const auto* x = static_cast<const float*>(memory[0]);
    auto* const sums = static_cast<double*>(work);
    const std::int64_t values = valuesOf(operands[0]), slices = slicesOf(operands[0]);
    parallelFor(threads, slices, values,
                [&](std::int64_t i) { sums[i] = sliceSum(x + i * kSlice, std::min(kSlice, values - i * kSlice)); });
    double sum = 0;
    for (std::int64_t i = 0; i < slices; ++i) sum += sums[i];
    *static_cast<float*>(memory[1]) = static_cast<float>(sum);
    return TBEM_OK;
  }
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  info.workspace = static_cast<std::uint64_t>(slicesOf(op.operands[0])) * sizeof(double);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:squares");
  return TBEM_OK;
}

}  // namespace

Family squaresFamily() { return Family::of<SumSquares>(query); }

}  // namespace tbem::cpu
