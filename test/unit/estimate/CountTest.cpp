// FLOPs, parameters, static memory and layouts against sums worked out by hand.
#include "SmallNets.h"

#include "compiler/count/Conventions.h"
#include "compiler/count/Flops.h"
#include "compiler/count/Layout.h"
#include "compiler/count/Static.h"
#include "compiler/estimate/Estimate.h"

#include <gtest/gtest.h>

using namespace tbem;
using namespace tbem::test;

namespace {
TEST(Flops, WideNumbersPrint) {
  EXPECT_EQ(estimate::toString(0), "0");
  estimate::Count big = 1;
  for (int i = 0; i < 30; ++i) big *= 10;
  EXPECT_EQ(estimate::toString(big + 7), "1000000000000000000000000000007");
}

TEST(Flops, ConvolutionsAndDenseLayersOfATrainingStep) {
  const Net net = smallVgg({1, 1}, 2, 16, 8, true);
  const auto flops = estimate::countFlops(net.g, net.values());
  ASSERT_TRUE(flops.has_value());
  // 3 -> 16 channels at 8x8, 16 -> 32 at 4x4, 32 * 2 * 2 -> 10; batch 2.
  const std::uint64_t first = 2ULL * 2 * 16 * 64 * 27;
  const std::uint64_t second = 2ULL * 2 * 32 * 16 * 144;
  const std::uint64_t dense = 2ULL * 2 * 128 * 10;
  const estimate::OperatorCounts& conv = flops->byOperator.at("conv2d");
  EXPECT_EQ(estimate::toString(conv.macForward), std::to_string(first + second));
  EXPECT_EQ(estimate::toString(conv.macBackward), std::to_string(first + 2 * second)) << "the first layer has no input gradient";
  EXPECT_EQ(estimate::toString(flops->byOperator.at("dense").forward), std::to_string(dense + 20))
      << "and 20 additions of the bias";
  EXPECT_EQ(estimate::toString(flops->most.forward), std::to_string(first + second + dense + 20));
  EXPECT_EQ(estimate::toString(flops->most.step()), std::to_string(2 * first + 3 * second + dense + 20));
  EXPECT_EQ(flops->byOperator.count("conv2d_weight_gradient"), 0U);
  EXPECT_EQ(flops->parameters, 16 * 27 + 32 + 32 * 144 + 64 + 1280 + 10);
  EXPECT_EQ(flops->buffers, 32 + 64);
  EXPECT_FALSE(flops->gated);
  const auto macs = estimate::countFlops(net.g, net.values(), *estimate::findConvention("mac"));
  EXPECT_EQ(estimate::toString(macs->most.forward), std::to_string((first + second + dense) / 2));
  EXPECT_EQ(estimate::findConvention("nobody"), nullptr);
}

TEST(Flops, SumsMayPass64Bits) {
  Net net = smallVgg({1}, 2, 16, 8, false);
  for (graph::Op& op : net.g.ops) op.flops = {{"mac", net.pool.constant(std::int64_t{1} << 62)}};
  const auto flops = estimate::countFlops(net.g, net.values());
  ASSERT_TRUE(flops.has_value());
  const estimate::Count each = static_cast<estimate::Count>(1) << 63;
  EXPECT_EQ(estimate::toString(flops->most.forward), estimate::toString(each * net.g.ops.size()));
}

/// Gates: cond -> skip(arms of `cheap` and `dear` FLOPs), then perhaps an exit, then a tail.
struct Gated {
  Net net;
  graph::OpId op(const std::string& name, std::int64_t flops, graph::RegionId region, OpKind kind = OpKind::Elementwise) {
    graph::Op made;
    made.kind = kind;
    made.declaration = name;
    made.flops = {{"add", net.pool.constant(flops)}};
    made.region = region;
    if (kind != OpKind::Elementwise) made.inputs = {net.input(name + ".condition", {4}, TBEM_BOOL)};
    net.g.ops.push_back(made);
    const auto id = static_cast<graph::OpId>(net.g.ops.size() - 1);
    net.g[region].ops.push_back(id);
    return id;
  }
  graph::RegionId region(std::int64_t flops) {
    net.g.regions.emplace_back();
    const auto id = static_cast<graph::RegionId>(net.g.regions.size() - 1);
    op("arm", flops, id);
    return id;
  }
};

TEST(Flops, GatesHaveALeastAndAMost) {
  Gated gated;
  gated.op("stem", 5, graph::kMainRegion);
  const graph::RegionId dear = gated.region(100);
  const graph::RegionId cheap = gated.region(7);
  const graph::OpId skip = gated.op("skip", 0, graph::kMainRegion, OpKind::Skip);
  gated.net.g[skip].regions = {dear, cheap};
  gated.op("exit", 1, graph::kMainRegion, OpKind::Exit);
  gated.op("tail", 1000, graph::kMainRegion);
  const auto flops = estimate::countFlops(gated.net.g, gated.net.values());
  ASSERT_TRUE(flops.has_value());
  EXPECT_TRUE(flops->gated);
  EXPECT_EQ(estimate::toString(flops->least.forward), "13");
  EXPECT_EQ(estimate::toString(flops->most.forward), "1106");
}

TEST(Flops, ANumberWithoutAValueIsNamed) {
  Net net = smallVgg({1}, 2, 16, 8, false);
  const graph::ExprId zero = net.pool.constant(0);
  net.g.ops[0].flops.own()[0].count = net.pool.make(sema::ExprOp::FloorDiv, net.pool.constant(7), zero);
  const auto flops = estimate::countFlops(net.g, net.values());
  ASSERT_FALSE(flops.has_value());
  EXPECT_EQ(flops.error().what, "`mac` of `conv2d` divides by zero");
  net.g.ops[0].flops.own()[0].count = net.pool.constant(*Rational::make(7, 2));
  EXPECT_EQ(estimate::countFlops(net.g, net.values()).error().what, "`mac` of `conv2d` is 3.5, not an integer");
}

TEST(Static, InferenceOfAChain) {
  const Net net = smallVgg({1}, 2, 4, 8, false, TBEM_F32);
  const auto memory = estimate::staticMemory(net.g, net.values());
  ASSERT_TRUE(memory.has_value());
  const std::uint64_t image = 2 * 3 * 64 * 4;
  const std::uint64_t weights = (4 * 27 + 4 + 4 + 10 * 64 + 10) * 4;
  const std::uint64_t buffers = 2 * 4 * 4;
  const std::uint64_t value = 2 * 4 * 64 * 4;
  const std::uint64_t statistics = 2 * 4 * 4;
  // Worst while the normalisation has its operand, its statistics and its result.
  EXPECT_EQ(memory->bytes, image + weights + buffers + 2 * value + statistics);
  EXPECT_EQ(net.g[memory->peak].declaration, "batch_normalize");
  EXPECT_EQ(memory->kinds[static_cast<std::size_t>(estimate::Kind::Weights)], weights);
  EXPECT_EQ(memory->kinds[static_cast<std::size_t>(estimate::Kind::Input)], image);
  EXPECT_EQ(memory->kinds[static_cast<std::size_t>(estimate::Kind::Buffers)], buffers);
  EXPECT_EQ(memory->kinds[static_cast<std::size_t>(estimate::Kind::Activations)], 2 * value + statistics);
  EXPECT_EQ(memory->least, memory->bytes);
}

TEST(Static, TrainingKeepsWhatGradientsRead) {
  // One dense layer: loss and gradients are small, everything persistent is there throughout.
  Net net(TBEM_F32);
  net.train(net.dense(net.input("x", {4, 8}), 3));
  const auto memory = estimate::staticMemory(net.g, net.values());
  ASSERT_TRUE(memory.has_value());
  const std::uint64_t weights = (24 + 3) * 4;
  const std::uint64_t persistent = 4 * 8 * 4 + 4 * 8 + 2 * weights;  // x, target (i64), weights and their velocities
  // During the weight gradient: dy (12 floats), that gradient, the loss. Its update runs before the bias gradient is there.
  EXPECT_EQ(memory->bytes, persistent + (12 + 24 + 1) * 4);
  EXPECT_EQ(net.g[memory->peak].declaration, "dense_weight_gradient");
  EXPECT_EQ(memory->kinds[static_cast<std::size_t>(estimate::Kind::Gradients)], 24U * 4);
  EXPECT_EQ(memory->kinds[static_cast<std::size_t>(estimate::Kind::Optimizer)], weights);
}

TEST(Static, ViewsShare) {
  Net net(TBEM_F32);
  net.output(net.flatten(net.maxPool(net.input("image", {1, 1, 4, 4}), 2)));
  const auto memory = estimate::staticMemory(net.g, net.values());
  EXPECT_EQ(memory->bytes, (16U + 4U) * 4U);
}

TEST(Layout, BlockedWithOnePixelIsRowMajor) {
  const std::int64_t one[] = {2, 32, 1, 1};
  const std::int64_t more[] = {2, 32, 2, 1};
  const std::int64_t odd[] = {2, 24, 1, 1};
  tbem_operand model = estimate::plainOperand(TBEM_F32, more);
  model.layout.blocks = 1;
  model.layout.block_dim[0] = 1;
  model.layout.block_size[0] = 16;
  model.layout.strides[0] = 64;
  model.layout.strides[1] = 32;
  model.layout.strides[2] = 16;
  model.layout.strides[3] = 16;
  EXPECT_TRUE(estimate::samePlaces(model, estimate::likeOperand(model, TBEM_F32, more)));
  EXPECT_FALSE(estimate::isRowMajor(model));
  EXPECT_TRUE(estimate::isRowMajor(estimate::likeOperand(model, TBEM_F32, one)));
  const tbem_operand padded = estimate::likeOperand(model, TBEM_F32, odd);
  EXPECT_FALSE(estimate::isRowMajor(padded)) << "24 channels take the room of 32";
  EXPECT_TRUE(estimate::hasPadding(padded));
  EXPECT_EQ(padded.layout.bytes, 2U * 32U * 4U);
}

TEST(Estimate, JsonHasItsFields) {
  const Net net = smallVgg({1}, 2, 16, 8, false);
  const auto estimate = estimate::estimateRow(net.g, net.values(), nullptr);
  ASSERT_TRUE(estimate.has_value());
  SourceManager sources;
  const std::string json = estimate::toJson(*estimate, {"table1", 3, R"({"batch":2})"}, sources);
  EXPECT_EQ(json.substr(0, 92),
            R"({"kind":"estimate","schema":1,"design":"table1","row":3,"network":"hand_made","levels":{"bat)");
  EXPECT_NE(json.find(R"("live":null,"arena":null)"), std::string::npos);
  EXPECT_NE(json.find(R"("peak_at":{"operator":"batch_normalize","file":null,"line":null)"), std::string::npos);
  EXPECT_EQ(json.find("paths"), std::string::npos);
}
}  // namespace
