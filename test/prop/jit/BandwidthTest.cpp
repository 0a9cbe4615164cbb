// How fast fused loops move memory, with the cpu backend's threads. Prints GB/s of bytes read and written; a measurement, not a
// check, so it runs only where TBEM_BENCH is set.
#include "test/unit/jit/Build.h"

#include <chrono>
#include <cstdio>

namespace tbem::testing {
namespace {

double medianSeconds(runtime::Instance& instance) {
  std::vector<double> times;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!instance.run(i)) return 0;
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

TEST(Bandwidth, NormaliseAddRelu) {
  if (std::getenv("TBEM_BENCH") == nullptr) GTEST_SKIP() << "a measurement: set TBEM_BENCH";
  for (const char* layout : {"c16", "nhwc", "plain"}) {
    for (const std::vector<std::int64_t>& dims :
         {std::vector<std::int64_t>{16, 64, 32, 32}, std::vector<std::int64_t>{16, 240, 10, 10},
          std::vector<std::int64_t>{64, 64, 56, 56}}) {
      ProgramBuilder p;
      const tbem_operand shape = layoutOf(TBEM_F32, dims, layout), channel = layoutOf(TBEM_F32, {dims[1]}, "plain");
      LoopBuilder l;
      const BufferId x = p.add(shape), residual = p.add(shape), out = p.add(shape);
      const std::vector<std::int32_t> all{0, 1, 2, 3};
      std::uint32_t value = l.input(x, all);
      const auto inverse = l.op(ElemOp::Rsqrt, l.op(ElemOp::Add, l.input(p.add(channel), {1}), l.constant(1, 100000)));
      value = l.op(ElemOp::Mul, l.op(ElemOp::Sub, value, l.input(p.add(channel), {1})), inverse);
      value = l.op(ElemOp::Add, l.op(ElemOp::Mul, value, l.input(p.add(channel), {1})), l.input(p.add(channel), {1}));
      l.output(out, l.op(ElemOp::Maximum, l.op(ElemOp::Add, value, l.input(residual, all)), l.constant(0)));
      p.add(l);
      auto compiled = jit::compile(p.program, {.cache = false});
      ASSERT_TRUE(compiled);
      auto instance = *runtime::Instance::create(compiled->executable, *tbem_backend_cpu());
      for (std::uint32_t b = 0; b < compiled->executable.buffers.size(); ++b)
        ASSERT_TRUE(instance->write(b, randomTensor(compiled->executable.buffers[b].operand, b, 0.5, 2)));
      const double seconds = medianSeconds(*instance), bytes = 3.0 * static_cast<double>(shape.layout.bytes);
      std::printf("%-6s %2ldx%ldx%ldx%ld  %8.1f us  %6.1f GB/s\n", layout, dims[0], dims[1], dims[2], dims[3], seconds * 1e6,
                  bytes / seconds * 1e-9);
      EXPECT_GT(seconds, 0);
    }
  }
}

}  // namespace
}  // namespace tbem::testing
