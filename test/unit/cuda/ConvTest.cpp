// Plans of convolutions for a card that is not here, where a cuDNN is.
#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/cudnn/Places.h"
#include "runtime/cudnn/Properties.h"
#include "test/unit/cudnn/Devices.h"

#include <gtest/gtest.h>

namespace tbem::cuda {
namespace {

std::string h100() {
  cudnn::DeviceProperties p = cudnn::hopper();
  p.name = "NVIDIA H100 80GB HBM3";
  p.memory = 85520809984;
  p.l2 = 52428800;
  p.memoryClockKHz = 2619000;
  return cudnn::toJson(p);
}

/// A convolution of `n` images of 8 channels, 12 x 14, by 16 kernels of 3 x 5 with a step of 2 x 1.
struct Description {
  explicit Description(tbem_primitive primitive, std::int64_t n, bool bias = false) {
    const tbem_operand x = runtime::plainOperand(TBEM_F32, {n, 8, 12, 14}),
                       weight = runtime::plainOperand(TBEM_F32, {16, 8, 3, 5}),
                       y = runtime::plainOperand(TBEM_F32, {n, 16, 6, 12});
    if (primitive == TBEM_PRIMITIVE_conv2d)
      operands = {x, weight, bias ? runtime::plainOperand(TBEM_F32, {16}) : tbem_operand{}, y};
    else if (primitive == TBEM_PRIMITIVE_conv2d_input_gradient)
      operands = {y, weight, x};
    else
      operands = {x, y, weight};
    op = {sizeof(tbem_op_desc),
          primitive,
          static_cast<int>(operands.size()) - 1,
          1,
          operands.data(),
          attributes.data(),
          static_cast<int>(attributes.size()),
          1,
          0};
  }
  std::vector<tbem_operand> operands;
  std::vector<std::int64_t> attributes{2, 1, 1, 1, 0, 1, 1, 1, 1};  // padding below is one row less than above
  tbem_op_desc op{};
  tbem_op_info info{};
};

constexpr std::array<tbem_primitive, 3> kPrimitives{TBEM_PRIMITIVE_conv2d, TBEM_PRIMITIVE_conv2d_input_gradient,
                                                    TBEM_PRIMITIVE_conv2d_weight_gradient};

class CudaConv : public testing::Test {
protected:
  void SetUp() override {
    if (openDevice()) GTEST_SKIP() << "there is a card, which is asked instead of one that is described";
  }
};

TEST_F(CudaConv, WithoutACardAndADescriptionNobodyCanBeAsked) {
  describeDevice("");
  for (const tbem_primitive primitive : kPrimitives) {
    Description conv(primitive, 4);
    ASSERT_EQ(runtime::checkDescription(conv.op), "");
    EXPECT_EQ(convFamily().query(conv.op, conv.info), TBEM_UNSUPPORTED);
    EXPECT_NE(std::string(lastErrorText()).find("where a device is named"), std::string::npos) << lastErrorText();
  }
}

TEST_F(CudaConv, WorkspacesAreThoseOfTheFirstEngineThatIsExactAndDeterministic) {
  const auto path = cudnn::findLibrary("", cudnn::cudnnPlaces(false));
  if (!path) GTEST_SKIP() << path.error();
  describeDevice(h100());
  constexpr std::array<const char*, 3> kPasses{"forward", "data_gradient", "weight_gradient"};
  for (std::size_t pass = 0; pass < kPasses.size(); ++pass) {
    for (const bool bias : {false, true}) {
      Description conv(kPrimitives[pass], 4, bias);
      ASSERT_EQ(runtime::checkDescription(conv.op), "");
      ASSERT_EQ(convFamily().query(conv.op, conv.info), TBEM_OK) << lastErrorText();
      // The same problem as a line, asked about directly.
      const auto problem = cudnn::readConvolution(std::string(kPasses[pass]) +
                                                  " f32 nchw 4x8x12x14 16x8x3x5 stride 2,1 pad 1,1,0,1 dilation 1,1 groups 1");
      ASSERT_TRUE(problem.has_value());
      const auto library = cudnn::openLibrary(*path);
      ASSERT_TRUE(library.has_value()) << library.error();
      const auto device = cudnn::Device::make(*library, h100());
      ASSERT_TRUE(device.has_value()) << device.error();
      auto engines = device->engines(*problem);
      ASSERT_TRUE(engines.has_value()) << engines.error();
      const auto taken = cudnn::first(*problem, *engines, {.tf32 = false, .nondeterministic = false});
      ASSERT_TRUE(taken.has_value());
      EXPECT_EQ(conv.info.workspace, (*engines)[*taken].workspace);
      EXPECT_TRUE(std::string(conv.info.implementation).starts_with("cuDNN engine ")) << conv.info.implementation;
    }
  }
  describeDevice("");
}

TEST_F(CudaConv, AnotherDescriptionForgetsTheAnswers) {
  const auto path = cudnn::findLibrary("", cudnn::cudnnPlaces(false));
  if (!path) GTEST_SKIP() << path.error();
  Description conv(TBEM_PRIMITIVE_conv2d, 4);
  describeDevice(h100());
  EXPECT_EQ(convFamily().query(conv.op, conv.info), TBEM_OK) << lastErrorText();
  describeDevice("{\"deviceVer\": 900}");
  EXPECT_EQ(convFamily().query(conv.op, conv.info), TBEM_UNSUPPORTED);
  EXPECT_NE(std::string(lastErrorText()).find("the device's properties"), std::string::npos) << lastErrorText();
  describeDevice("");
}

}  // namespace
}  // namespace tbem::cuda
