#include "runtime/cudnn/Recorded.h"

#include <gtest/gtest.h>

namespace tbem::cudnn {
namespace {

constexpr const char* kNumbers = "32 3 224 224 64 7 7 2 2 3 3 3 3 1 1 1";
constexpr const char* kAnswers = " 122065680t,0 0 - - - - - - - - - 7t";

DeviceProperties device(std::int64_t capability) {
  DeviceProperties d;
  d.capability = capability;
  d.clockKHz = 1980000;
  d.memoryClockKHz = 3201000;
  return d;
}

Convolution stem() {
  Convolution p;
  p.n = 32, p.c = 3, p.h = p.w = 224, p.out = 64;
  p.kernel = {7, 7};
  p.stride = {2, 2};
  p.pad = {3, 3, 3, 3};
  return p;
}

TEST(CudnnRecorded, ATableIsFoundByDeviceAndProblem) {
  const auto table = readRecorded(std::string("cuDNN 9\ndevice 900 1980000 3201000 some name\n") + kNumbers + kAnswers + "\n");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->made, "cuDNN 9");
  Convolution p = stem();
  const auto* engines = table->find(device(900), p);
  ASSERT_NE(engines, nullptr);
  ASSERT_EQ(engines->size(), 2U);
  EXPECT_EQ(engines->front().workspace, 122065680U);
  EXPECT_TRUE(engines->front().has(Numerical::TensorCore));
  EXPECT_EQ(engines->back(), (Engine{-1, {}, 0, 0, 0}));
  EXPECT_EQ(table->find(device(800), p), nullptr);
  p.pass = Pass::DataGradient;
  EXPECT_EQ(table->find(device(900), p), nullptr);
  p.pass = Pass::WeightGradient, p.dtype = TBEM_BF16, p.order = Order::Nhwc;
  ASSERT_NE(table->find(device(900), p), nullptr);
  EXPECT_EQ(table->find(device(900), p)->front().workspace, 7U);
}

TEST(CudnnRecorded, WhatIsNoTableIsRefused) {
  const std::string head = "cuDNN 9\ndevice 900 1980000 3201000 some name\n";
  for (const std::string& wrong :
       std::vector<std::string>{"cuDNN 9\n" + std::string(kNumbers) + kAnswers, "cuDNN 9\ndevice 900 x 3201000 name\n",
                                head + kNumbers + kAnswers + " 1", head + kNumbers + " 1 2 3", head + "0 " + kNumbers + kAnswers,
                                head + kNumbers + " 1,x" + " - - - - - - - - - - -"}) {
    EXPECT_FALSE(readRecorded(wrong).has_value()) << wrong;
  }
}

TEST(CudnnRecorded, TheTableOfThisProgramReads) {
  const Recorded& table = recordedTable();
  EXPECT_NE(table.made.find("cuDNN 9."), std::string::npos);
  ASSERT_FALSE(table.devices.empty());
  EXPECT_NE(table.find(device(900), stem()), nullptr);
}

TEST(CudnnRecorded, TheModelCopiesTheTensorsOfNchw) {
  Convolution p = stem();
  // x 32x3x224x224, weight 64x3x7x7, y 32x64x112x112, 4 bytes each: 16 bytes less than cuDNN 9.19 takes.
  EXPECT_EQ(modelled(p).front().workspace, 4U * (32 * 3 * 224 * 224 + 64 * 3 * 7 * 7 + 32 * 64 * 112 * 112));
  p.dtype = TBEM_BF16;
  EXPECT_EQ(modelled(p).front().workspace, 2U * (32 * 3 * 224 * 224 + 64 * 3 * 7 * 7 + 32 * 64 * 112 * 112));
  p.order = Order::Nhwc;
  EXPECT_EQ(modelled(p).front().workspace, 0U);
  p = stem();
  p.c = p.groups = 64;
  EXPECT_EQ(modelled(p).front().workspace, 0U);
}

}  // namespace
}  // namespace tbem::cudnn
