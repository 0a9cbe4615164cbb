#include "runtime/cudnn/Convolution.h"

#include <gtest/gtest.h>

namespace tbem::cudnn {
namespace {

constexpr const char* kLine = "weight_gradient bf16 nhwc 16x64x57x55 128x32x3x5 stride 2,1 pad 1,2,0,2 dilation 1,2 groups 2";

TEST(CudnnConvolution, ALineNamesItsProblem) {
  const auto p = readConvolution(kLine);
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->pass, Pass::WeightGradient);
  EXPECT_EQ(p->dtype, TBEM_BF16);
  EXPECT_EQ(p->order, Order::Nhwc);
  EXPECT_EQ(p->x(), (std::array<std::int64_t, 4>{16, 64, 57, 55}));
  EXPECT_EQ(p->weight(), (std::array<std::int64_t, 4>{128, 32, 3, 5}));
  EXPECT_EQ(p->pad, (std::array<std::int64_t, 4>{1, 2, 0, 2}));
  // (57 + 1 - 2 - 1) / 2 + 1 rows, 55 + 4 - 8 columns (Dumoulin & Visin 2016, relationship 15).
  EXPECT_EQ(p->y(), (std::array<std::int64_t, 4>{16, 128, 28, 51}));
  EXPECT_EQ(describe(*p), kLine);
}

TEST(CudnnConvolution, WhatIsNoProblemIsRefused) {
  for (const char* wrong : {
           "",
           "forward",
           "sideways f32 nchw 1x1x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1",
           "forward f64 nchw 1x1x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1",
           "forward f32 chwn 1x1x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1",
           "forward f32 nchw 1x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1",
           "forward f32 nchw 1x1x1x0 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1",
           "forward f32 nchw 1x4x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 2",
           "forward f32 nchw 1x1x1x1 1x1x1x1 stride 0,1 pad 0,0,0,0 dilation 1,1 groups 1",
           "forward f32 nchw 1x1x1x1 1x1x1x1 stride 1,1 pad 0,0,-1,0 dilation 1,1 groups 1",
           "forward f32 nchw 1x1x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1 more",
           "forward f32 nchw 9999999999999x1x1x1 1x1x1x1 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1",
       }) {
    EXPECT_FALSE(readConvolution(wrong).has_value()) << wrong;
  }
}

TEST(CudnnConvolution, WithoutRoomForAWindowThereIsNoResult) {
  Convolution problem;
  problem.h = problem.w = 2;
  problem.kernel = {1, 3};
  problem.stride = {3, 2};
  EXPECT_EQ(problem.y()[2], 1);
  EXPECT_EQ(problem.y()[3], 0);
  problem.pad = {0, 0, 0, 2};
  EXPECT_EQ(problem.y()[3], 1);
}

TEST(CudnnConvolution, NotesAreNamed) {
  Engine engine;
  EXPECT_EQ(notesOf(engine), "");
  engine.numerical = 1U << 0 | 1U << 4;
  engine.behaviour = 1;
  EXPECT_EQ(notesOf(engine), "tensor core, nondeterministic, compiled at run time");
}

}  // namespace
}  // namespace tbem::cudnn
