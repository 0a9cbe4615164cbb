// bf16: cpu and ref against ref in f64 on the same rounded operands, in random layouts. Results in bf16 may be off by half a unit
// in the last place, 2^-8; sums, statistics and gradients of weights are kept in f32.
#include "test/problems/Narrow.h"
#include "test/problems/Random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbem::test {
namespace {

bool libraryChooses(tbem_primitive p) {
  return p == TBEM_PRIMITIVE_conv2d || p == TBEM_PRIMITIVE_conv2d_input_gradient || p == TBEM_PRIMITIVE_conv2d_weight_gradient ||
         p == TBEM_PRIMITIVE_dense || p == TBEM_PRIMITIVE_dense_input_gradient || p == TBEM_PRIMITIVE_dense_weight_gradient ||
         p == TBEM_PRIMITIVE_matmul;
}

class Bfloat16 : public testing::TestWithParam<int> {
protected:
  static Settings settings(const Problem& problem, int threads, int kind) {
    const tbem_primitive primitive = problem.primitive;
    return {TBEM_BF16, threads, [primitive, kind](std::vector<tbem_operand>& operands) {
              for (std::size_t k = 0; k < operands.size(); ++k) {
                if (!operands[k].present || operands[k].dtype == TBEM_I64) continue;
                if (staysF32(primitive, k)) operands[k].dtype = TBEM_F32;
                if (kind >= 0) setKind(operands[k], kind);
              }
            }};
  }
};

TEST_P(Bfloat16, CpuAndRefAgree) {
  const auto primitive = static_cast<tbem_primitive>(GetParam());
  tbem_device_info device;
  ASSERT_EQ(tbem_backend_cpu()->probe(&device), TBEM_OK);
  const bool has =
      std::string(device.isa).starts_with("avx512_core") || runtime::signature(static_cast<tbem_primitive>(primitive)).moves;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(1000 * static_cast<std::uint64_t>(primitive) + seed);
    const Problem problem = roundedTo(TBEM_BF16, randomProblem(primitive, random));
    const int kind = libraryChooses(primitive) ? -1 : static_cast<int>(random.integer(0, kKinds - 1));
    const Outcome exact = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    ASSERT_EQ(exact.status, TBEM_OK) << problem.text() << ": " << exact.error;
    const Outcome ref = runOn(*tbem_backend_ref(), problem, settings(problem, 1, -1));
    ASSERT_EQ(ref.status, TBEM_OK) << problem.text() << ": " << ref.error;
    const int threads = static_cast<int>(random.integer(1, 2));
    const Outcome cpu = runOn(*tbem_backend_cpu(), problem, settings(problem, threads, kind));
    if (!has) {
      EXPECT_EQ(cpu.status, TBEM_UNSUPPORTED);
      EXPECT_NE(cpu.error.find("needs AVX-512"), std::string::npos) << cpu.error;
      break;
    }
    ASSERT_EQ(cpu.status, TBEM_OK) << problem.text() << " seed " << seed << ": " << cpu.error;
    const bool ours = cpu.implementation.starts_with("tbem:");
    const Outcome again = runOn(*tbem_backend_cpu(), problem, settings(problem, ours ? 3 - threads : threads, kind));
    for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
      const bool wide = staysF32(primitive, problem.inputs.size() + k);
      const double bound = wide ? 1e-5 : 0x1p-8;
      EXPECT_LE(distance(ref.outputs[k], exact.outputs[k]), bound) << problem.text() << " seed " << seed << " on ref";
      EXPECT_LE(distance(cpu.outputs[k], exact.outputs[k]), bound)
          << problem.text() << " seed " << seed << " by " << cpu.implementation;
      EXPECT_EQ(cpu.bytes[k], again.bytes[k])
          << problem.text() << " seed " << seed << " by " << cpu.implementation << ": other bits";
    }
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Primitives, Bfloat16,
    testing::Values(TBEM_PRIMITIVE_conv2d, TBEM_PRIMITIVE_conv2d_input_gradient, TBEM_PRIMITIVE_conv2d_weight_gradient,
                    TBEM_PRIMITIVE_dense, TBEM_PRIMITIVE_dense_input_gradient, TBEM_PRIMITIVE_dense_weight_gradient,
                    TBEM_PRIMITIVE_matmul, TBEM_PRIMITIVE_reduce_sum, TBEM_PRIMITIVE_channel_moments,
                    TBEM_PRIMITIVE_channel_gradient_sums, TBEM_PRIMITIVE_max_pool2d, TBEM_PRIMITIVE_max_pool2d_gradient,
                    TBEM_PRIMITIVE_avg_pool2d, TBEM_PRIMITIVE_avg_pool2d_gradient, TBEM_PRIMITIVE_adaptive_avg_pool2d,
                    TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient, TBEM_PRIMITIVE_permute, TBEM_PRIMITIVE_pad, TBEM_PRIMITIVE_slice,
                    TBEM_PRIMITIVE_concat),
    [](const auto& info) { return std::string(runtime::signature(static_cast<tbem_primitive>(info.param)).name); });

/// Reorders between f32 and bf16 round to nearest even on both backends, whatever the layouts.
TEST(Bfloat16Reorder, RoundsToNearestEven) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(52000 + seed);
    Problem problem = randomProblem(TBEM_PRIMITIVE_reorder, random);
    if (seed % 2 == 1) problem = roundedTo(TBEM_BF16, problem);
    const int from = seed % 2 == 0 ? TBEM_F32 : TBEM_BF16, to = seed % 2 == 0 ? TBEM_BF16 : TBEM_F32;
    const int kind = static_cast<int>(random.integer(0, kKinds - 1)), other = static_cast<int>(random.integer(0, kKinds - 1));
    const auto types = [&](bool blocked) {
      return [=](std::vector<tbem_operand>& operands) {
        operands[0].dtype = from, operands[1].dtype = to;
        if (blocked) setKind(operands[0], kind), setKind(operands[1], other);
      };
    };
    const Outcome expected = runOn(*tbem_backend_ref(), problem, {TBEM_F32, 1, types(false)});
    const Outcome found = runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 2, types(true)});
    ASSERT_EQ(expected.status, TBEM_OK) << problem.text() << ": " << expected.error;
    ASSERT_EQ(found.status, TBEM_OK) << problem.text() << ": " << found.error;
    EXPECT_EQ(found.outputs[0], expected.outputs[0]) << problem.text() << " by " << found.implementation;
    std::vector<std::uint16_t> bits(problem.inputs[0]->values.size());
    std::vector<double> nearest(bits.size());
    runtime::fromDoubles(TBEM_BF16, problem.inputs[0]->values, bits.data());
    runtime::toDoubles(TBEM_BF16, bits.data(), nearest);
    EXPECT_EQ(expected.outputs[0], nearest) << problem.text();
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tbem::test
