// Convolutions and products that are not one call of a library, against ref: long sums in parts, kernels of one pixel, paddings
// that differ between the sides.
#include "test/problems/Random.h"

#include "runtime/backends/cuda/libraries/SumShape.h"
#include "runtime/core/Primitive.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbem::test {
namespace {

using Dims = std::vector<std::int64_t>;

class CudaOps : public testing::Test {
protected:
  void SetUp() override {
    tbem_device_info info{};
    if (tbem_backend_cuda()->probe(&info) != TBEM_OK) GTEST_SKIP() << tbem_backend_cuda()->last_error();
  }

  static Outcome agrees(const Problem& problem, std::int32_t algorithm = 0) {
    SCOPED_TRACE(problem.text() + " algorithm " + std::to_string(algorithm));
    const Outcome expected = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    EXPECT_EQ(expected.status, TBEM_OK) << expected.error;
    const Outcome outcome = runOn(*tbem_backend_cuda(), problem, {TBEM_F32, 1, {}, algorithm});
    EXPECT_EQ(outcome.status, TBEM_OK) << outcome.error;
    if (expected.status == TBEM_OK && outcome.status == TBEM_OK) {
      EXPECT_LE(distance(outcome.outputs[0], expected.outputs[0]), 1e-5) << outcome.implementation;
    }
    return outcome;
  }

  /// All three passes of a convolution of x by weight, with their every algorithm; the implementations by pass.
  std::vector<std::vector<std::string>> passesAgree(const Dims& x, const Dims& weight, const Dims& y, const Dims& attributes) {
    const std::vector<Problem> passes = {
        {TBEM_PRIMITIVE_conv2d,
         attributes,
         {},
         {random.array(x), random.array(weight), random.array({y[1]})},
         {Array{y, {}, false}}},
        {TBEM_PRIMITIVE_conv2d_input_gradient, attributes, {}, {random.array(y), random.array(weight)}, {Array{x, {}, false}}},
        {TBEM_PRIMITIVE_conv2d_weight_gradient, attributes, {}, {random.array(x), random.array(y)}, {Array{weight, {}, false}}}};
    std::vector<std::vector<std::string>> all;
    for (const Problem& pass : passes) {
      std::vector<std::string>& names = all.emplace_back();
      for (std::int32_t algorithm = 0; algorithm < TBEM_MAX_ALGORITHMS && has(pass, algorithm); ++algorithm)
        names.push_back(agrees(pass, algorithm).implementation);
      EXPECT_FALSE(names.empty()) << pass.text();
    }
    return all;
  }

  static bool has(const Problem& problem, std::int32_t algorithm) {
    std::vector<tbem_operand> operands;
    for (const auto& input : problem.inputs) operands.push_back(runtime::plainOperand(TBEM_F32, input->dims));
    operands.push_back(runtime::plainOperand(TBEM_F32, problem.outputs[0].dims));
    tbem_op_desc op{sizeof(tbem_op_desc),
                    problem.primitive,
                    static_cast<int>(operands.size()) - 1,
                    1,
                    operands.data(),
                    problem.attributes.data(),
                    static_cast<int>(problem.attributes.size()),
                    1,
                    algorithm};
    tbem_op_info info{};
    return tbem_backend_cuda()->query(&op, &info) == TBEM_OK;
  }

  Random random{5};
};

TEST_F(CudaOps, LongSumsAreComputedInParts) {
  for (const std::int64_t rows : {512, 1000, 1031}) {
    const Problem problem{TBEM_PRIMITIVE_dense_weight_gradient,
                          {},
                          {},
                          {random.array({rows, 6}), random.array({rows, 5})},
                          {Array{{5, 6}, {}, false}}};
    EXPECT_TRUE(agrees(problem).implementation.find(" parts") != std::string::npos);
  }
  const Problem forward{TBEM_PRIMITIVE_dense,
                        {},
                        {},
                        {random.array({3, 1100}), random.array({7, 1100}), random.array({7})},
                        {Array{{3, 7}, {}, false}}};
  EXPECT_EQ(agrees(forward).implementation, "cuBLASLt, 4 parts");
  const Problem gradient{
      TBEM_PRIMITIVE_dense_input_gradient, {}, {}, {random.array({3, 600}), random.array({600, 4})}, {Array{{3, 4}, {}, false}}};
  EXPECT_EQ(agrees(gradient).implementation, "cuBLASLt, 2 parts");
  const Problem both{
      TBEM_PRIMITIVE_matmul, {1, 1}, {}, {random.array({700, 3}), random.array({4, 700})}, {Array{{3, 4}, {}, false}}};
  EXPECT_EQ(agrees(both).implementation, "cuBLASLt, 2 parts");
}

TEST_F(CudaOps, KernelsOfOnePixelAreProductsWhereEnginesAreSlow) {
  const auto plain = passesAgree({3, 5, 4, 6}, {7, 5, 1, 1}, {3, 7, 4, 6}, {1, 1, 0, 0, 0, 0, 1, 1, 1});
  EXPECT_TRUE(plain[0].front().starts_with("cuDNN")) << plain[0].front();
  EXPECT_TRUE(plain[0].back().starts_with("cuBLASLt")) << plain[0].back();
  EXPECT_TRUE(plain[1].front().starts_with("cuDNN")) << plain[1].front();
  EXPECT_TRUE(plain[1].back().starts_with("cuBLASLt")) << plain[1].back();
  EXPECT_EQ(plain[2].front(), "cuBLASLt, 3 parts");
  const auto stepped = passesAgree({2, 5, 7, 6}, {3, 5, 1, 1}, {2, 3, 4, 2}, {2, 3, 0, 0, 0, 0, 1, 1, 1});
  EXPECT_EQ(stepped[1].front(), "cuBLASLt");
  EXPECT_EQ(stepped[2].front(), "cuBLASLt, 2 parts");
  (void)passesAgree({1, 3, 4, 4}, {2, 3, 1, 1}, {1, 2, 2, 2}, {2, 2, 0, 0, 0, 0, 1, 1, 1});
}

TEST_F(CudaOps, PaddingMayDifferBetweenTheSides) {
  (void)passesAgree({1, 4, 10, 10}, {3, 4, 3, 5}, {1, 3, 3, 9}, {3, 1, 0, 2, 0, 1, 1, 1, 1});
  (void)passesAgree({2, 2, 5, 6}, {3, 2, 3, 3}, {2, 3, 6, 7}, {1, 1, 2, 0, 1, 3, 1, 1, 1});
  (void)passesAgree({2, 4, 8, 8}, {4, 2, 3, 3}, {2, 4, 4, 4}, {2, 2, 0, 0, 1, 1, 1, 1, 2});  // as TensorFlow pads
  (void)passesAgree({1, 2, 8, 8}, {2, 2, 3, 3}, {1, 2, 4, 4}, {2, 2, 1, 1, 0, 0, 1, 1, 1});  // steps end before the other side
}

}  // namespace

namespace {

cuda::ProductShape product(std::int64_t m, std::int64_t k, std::int64_t n) {
  cuda::ProductShape shape;
  shape.m = m, shape.k = k, shape.n = n;
  return shape;
}

TEST(CudaSums, ManyResultsAreNotSplit) {
  EXPECT_FALSE(cuda::splitSum(product(4096, 4096, 4096)).has_value());
  EXPECT_FALSE(cuda::splitSum(product(32, 500, 32)).has_value());
}

TEST(CudaSums, FewResultsAreSplitAsFarAsTheirSumsAreLong) {
  const auto sum = cuda::splitSum(product(96, 50176, 384));  // a layer of ConvNeXt's, 16 images
  ASSERT_TRUE(sum.has_value());
  EXPECT_GE(sum->parts(), 64);
  EXPECT_EQ(sum->each.k % 32, 0);
  EXPECT_EQ(sum->each.k * sum->each.batch.count + (sum->rest ? sum->rest->k : 0), 50176);
}

/// Places for 32 MiB of parts; more images take turns.
TEST(CudaSums, ImagesTakeTurnsWhereTheirPartsAreLarge) {
  const cuda::SumShape sum = cuda::sumOf(product(2048, 49, 512), 32, 1, 2);
  EXPECT_EQ(sum.parts(), 8);
  EXPECT_EQ(sum.rounds, 4);
  EXPECT_EQ(sum.nextA, 8);
  EXPECT_EQ(sum.nextB, 16);
  EXPECT_EQ(cuda::sumOf(product(4096, 49, 4096), 7, 1, 1).parts(), 1);
}

}  // namespace
}  // namespace tbem::test
