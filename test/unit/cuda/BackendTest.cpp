// The backend's table where there is no card: what it answers, and what it refuses in words.
#include "runtime/backends/cuda/Cuda.h"
#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/backends/cuda/libraries/TargetCard.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"
#include "tbem/backend.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace tbem::cuda {
namespace {

const tbem_backend& backend() { return *tbem_backend_cuda(); }

/// reduce_sum over the last axis of a matrix, its layouts left to the backend.
struct Sum {
  explicit Sum(std::int32_t dtype)
      : operands{runtime::plainOperand(dtype, {4, 6}), runtime::plainOperand(dtype, {4})},
        op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_reduce_sum, 1, 1, operands.data(), attributes.data(), 2, 1, 0} {
    for (tbem_operand& operand : operands) operand.layout = {.any = 1};
  }
  std::vector<tbem_operand> operands;
  std::vector<std::int64_t> attributes{1, 1};
  tbem_op_desc op;
  tbem_op_info info{};
};

TEST(CudaBackend, IsATableOfADeviceWhoseMemoryTheHostCannotReach) {
  EXPECT_EQ(backend().abi, TBEM_BACKEND_ABI);
  EXPECT_EQ(backend().size, sizeof(tbem_backend));
  EXPECT_STREQ(backend().name, "cuda");
  EXPECT_EQ(backend().parallel, nullptr);
  ASSERT_NE(backend().device, nullptr);
  EXPECT_STREQ(backend().device->target, "nvptx64");
}

TEST(CudaBackend, EveryPrimitiveIsThere) {
  for (std::int32_t primitive = -1; primitive <= TBEM_PRIMITIVE_COUNT; ++primitive) {
    tbem_op_desc op{.size = sizeof(tbem_op_desc), .primitive = primitive};
    tbem_op_info info{};
    const bool is = primitive >= 0 && primitive < TBEM_PRIMITIVE_COUNT;
    EXPECT_EQ(backend().query(&op, &info), is ? TBEM_OK : TBEM_UNSUPPORTED) << primitive;
  }
}

TEST(CudaBackend, AQueryNeedsNoCard) {
  Sum sum(TBEM_F32);
  ASSERT_EQ(backend().query(&sum.op, &sum.info), TBEM_OK) << backend().last_error();
  for (const tbem_operand& operand : sum.operands) EXPECT_TRUE(runtime::isPlain(operand) && operand.layout.any == 0);
}

TEST(CudaBackend, ArithmeticIsInF32AndNarrowTypes) {
  for (const std::int32_t dtype : {TBEM_F32, TBEM_BF16, TBEM_F16}) {
    Sum sum(dtype);
    EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_OK) << backend().last_error();
  }
  Sum sum(TBEM_F64);
  EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_UNSUPPORTED);
  const std::string said = backend().last_error();
  EXPECT_NE(said.find("reduce_sum of f64"), std::string::npos) << said;
}

/// Softmax, and statistics of channels, which are f32 beside narrow images or by way of f32.
class CudaNarrowBackend : public testing::TestWithParam<tbem_dtype> {};

TEST_P(CudaNarrowBackend, WhatIsComputedInF32IsWidened) {
  const tbem_dtype dtype = GetParam();
  const auto images = runtime::plainOperand(dtype, {4, 6, 2, 2}), statistics = runtime::plainOperand(dtype, {6});
  const std::int64_t axis = 1;
  std::vector<tbem_operand> both{images, images}, three{images, statistics, statistics};
  tbem_op_desc softmax{sizeof(tbem_op_desc), TBEM_PRIMITIVE_softmax, 1, 1, both.data(), &axis, 1, 1, 0};
  tbem_op_desc moments{sizeof(tbem_op_desc), TBEM_PRIMITIVE_channel_moments, 1, 2, three.data(), nullptr, 0, 1, 0};
  tbem_op_info ofSoftmax{}, ofMoments{}, ofWideMoments{};
  ASSERT_EQ(backend().query(&softmax, &ofSoftmax), TBEM_OK) << backend().last_error();
  EXPECT_STREQ(ofSoftmax.implementation, "tbem:lines");
  three[1].layout.any = 1;
  ASSERT_EQ(backend().query(&moments, &ofMoments), TBEM_OK) << backend().last_error();
  EXPECT_TRUE(runtime::isPlain(three[1]) && three[1].layout.bytes == 6 * sizeof(std::uint16_t) && three[1].dtype == dtype);
  three[1] = three[2] = runtime::plainOperand(TBEM_F32, {6});
  ASSERT_EQ(backend().query(&moments, &ofWideMoments), TBEM_OK) << backend().last_error();
  EXPECT_EQ(ofMoments.implementation, std::string(ofWideMoments.implementation) + ", widened to f32");
  constexpr std::uint64_t kCopy = 256;  // 24 bytes, and what comes behind them is aligned
  EXPECT_EQ(ofMoments.workspace, ofWideMoments.workspace + 2 * kCopy);
}
INSTANTIATE_TEST_SUITE_P(Types, CudaNarrowBackend, testing::Values(TBEM_BF16, TBEM_F16),
                         [](const auto& info) { return std::string(runtime::dtypeName(info.param)); });

/// Tensor cores multiply bf16 from compute capability 8.0 on.
TEST(CudaBackend, AnOlderCardMultipliesNoBfloat16) {
  if (openDevice()) GTEST_SKIP() << "there is a card, which is asked instead of one that is planned for";
  cudnn::DeviceProperties card;
  card.name = "an older one";
  for (const std::int64_t capability : {750, 800}) {
    card.capability = capability;
    planForCard(card);
    std::vector<tbem_operand> operands(3, runtime::plainOperand(TBEM_BF16, {4, 4}));
    const std::array<std::int64_t, 2> transposed{};
    tbem_op_desc op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_matmul, 2, 1, operands.data(), transposed.data(), 2, 1, 0};
    tbem_op_info info{};
    EXPECT_EQ(backend().query(&op, &info), capability < 800 ? TBEM_UNSUPPORTED : TBEM_OK);
    if (capability < 800) {
      EXPECT_STREQ(backend().last_error(), "cuda: matmul of bf16 needs a card of compute capability 8.0, this one has 7.5");
    }
  }
  planForCard(std::nullopt);
}

/// Of a card that is not here, whoever plans for it may say what cuDNN said.
TEST(CudaBackend, OthersAnswerAboutACardThatIsNotHere) {
  if (openDevice()) GTEST_SKIP() << "there is a card, which is asked instead of one that is planned for";
  cudnn::DeviceProperties card;
  card.name = "a described one";
  card.capability = 900;
  std::vector<std::string> asked;
  constexpr std::uint64_t kWorkspace = 12345;
  const auto answer = [&](const cudnn::Problem& problem, cudnn::List) -> tl::expected<std::vector<cudnn::Engine>, std::string> {
    asked.push_back(cudnn::describe(problem));
    cudnn::Engine engine;
    engine.workspace = kWorkspace;
    return std::vector{engine};
  };
  struct Planned {
    ~Planned() {
      withdrawAnswerer(this);
      describeDevice("");
      planForCard(std::nullopt);
    }
  } const planned;
  planFor(card, {&planned, answer, [] { return std::string("9.99.0"); }});
  tbem_device_info device{};
  ASSERT_EQ(backend().probe(&device), TBEM_OK);
  EXPECT_STREQ(device.library, "cuDNN 9.99.0, not here: a plan");
  std::vector<tbem_operand> operands{runtime::plainOperand(TBEM_F32, {2, 3, 8, 8}), runtime::plainOperand(TBEM_F32, {4, 3, 3, 3}),
                                     tbem_operand{}, runtime::plainOperand(TBEM_F32, {2, 4, 8, 8})};
  const std::array<std::int64_t, 9> attributes{1, 1, 1, 1, 1, 1, 1, 1, 1};  // stride, pad, dilation, groups
  tbem_op_desc op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_conv2d, 3, 1, operands.data(), attributes.data(), 9, 1, 0};
  tbem_op_info info{};
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(backend().query(&op, &info), TBEM_OK) << backend().last_error();
    EXPECT_EQ(info.workspace, kWorkspace);
  }
  EXPECT_EQ(asked.size(), 1U) << "what was answered is known";
}

TEST(CudaBackend, ThereIsOneAlgorithm) {
  Sum sum(TBEM_F32);
  sum.op.algorithm = 1;
  EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_UNSUPPORTED);
  EXPECT_STREQ(backend().last_error(), "cuda: reduce_sum has one algorithm");
}

TEST(CudaBackend, AnAxisThatIsNoneIsAMistake) {
  Sum sum(TBEM_F32);
  sum.attributes[1] = 7;
  EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_INVALID);
  EXPECT_NE(std::string(backend().last_error()).find("axis"), std::string::npos) << backend().last_error();
}

TEST(CudaBackend, WithoutADriverNothingRunsAndTheReasonIsTold) {
  const auto opened = openDevice();
  if (opened) GTEST_SKIP() << "there is a card";
  const std::string expected = "cuda: " + opened.error();
  const auto refuses = [&](tbem_status status) {
    EXPECT_EQ(status, TBEM_UNSUPPORTED);
    EXPECT_EQ(std::string(backend().last_error()), expected);
  };
  tbem_device_info device{};
  refuses(backend().probe(&device));
  Sum sum(TBEM_F32);
  ASSERT_EQ(backend().query(&sum.op, &sum.info), TBEM_OK);
  tbem_op* op = nullptr;
  refuses(backend().create(&sum.op, &op));
  void* memory = nullptr;
  refuses(backend().allocate(4096, &memory));
  EXPECT_EQ(memory, nullptr);
  float number = 0;
  refuses(backend().copy_in(&number, &number, sizeof number));
  refuses(backend().copy_out(&number, &number, sizeof number));
  refuses(backend().synchronize());
  tbem_module* module = nullptr;
  refuses(backend().device->load(".version 7.0", 13, &module));
  refuses(backend().device->zero(&number, sizeof number));
  refuses(backend().device->move(&number, &number, sizeof number));
  refuses(backend().device->record());
}

}  // namespace
}  // namespace tbem::cuda
