// Several programs in one arena: where everything lies, by closed forms.
#include "Build.h"

#include "compiler/lower/Lower.h"
#include "compiler/plan/Plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

using namespace tbem;
using namespace tbem::test;
using estimate::Allocation;
using estimate::Linked;
using estimate::Program;

namespace {

/// One dense layer of 6 inputs: weights of 8 * 6 * outputs bytes in f64, which are rounded up to whole 64.
Net layer(std::int64_t batch, std::int64_t outputs, bool trains, tbem_dtype dtype = TBEM_F64) {
  Net net(dtype);
  const TensorId y = net.dense(net.input("image", {batch, 6}), outputs);
  if (trains) {
    net.train(y);
  } else {
    net.output(y);
  }
  return net;
}

struct Lowered {
  Net net;
  Program program;

  explicit Lowered(Net n) : net(std::move(n)) {
    auto lowered = estimate::lower(net.g, net.values(), *tbem_backend_ref(), {});
    if (!lowered) throw std::runtime_error("the layer cannot be lowered");
    program = std::move(*lowered);
  }
};

tl::expected<Linked, std::string> linkTwo(const Lowered& a, const Lowered& b) {
  return estimate::link({{"the step", &a.net.g, a.program}, {"the evaluation", &b.net.g, b.program}});
}

const Allocation& placeOf(const Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.buffers, name, &estimate::Buffer::name);
  if (found == program.buffers.end()) throw std::runtime_error("no buffer is called " + name);
  return program.allocations[found->allocation];
}

// Weights of 5 outputs: 240 B, of which a plan makes 256; biases: 40 B, 64. The step has a velocity for each.
constexpr std::uint64_t kWeights = 256 + 64, kStorages = 2 * kWeights;

TEST(Link, TheArenaIsAllStoragesAndTheLargestPartOfOne) {
  for (const std::int64_t batch : {1, 4, 64, 1000}) {
    const Lowered step(layer(4, 5, true)), evaluation(layer(batch, 5, false));
    const auto linked = linkTwo(step, evaluation);
    ASSERT_TRUE(linked) << linked.error();
    EXPECT_EQ(linked->storages, kStorages);
    const std::uint64_t largest = std::max(step.program.arena - kStorages, evaluation.program.arena - kWeights);
    EXPECT_EQ(linked->arena, kStorages + largest);
    EXPECT_LT(linked->arena, step.program.arena + evaluation.program.arena);
    EXPECT_EQ(linked->arena == step.program.arena, batch <= 4);
  }
}

TEST(Link, StoragesLieTogetherAndTemporariesOverEachOther) {
  const Lowered step(layer(4, 5, true)), evaluation(layer(3, 5, false));
  const auto linked = linkTwo(step, evaluation);
  ASSERT_TRUE(linked);
  for (const char* shared : {"dense1.weight", "dense1.bias"}) {
    const Allocation &a = placeOf(linked->programs[0], shared), &b = placeOf(linked->programs[1], shared);
    EXPECT_EQ(a.offset, b.offset);
    EXPECT_TRUE(a.persistent && b.persistent);
    EXPECT_LE(a.offset + a.bytes, kStorages);
  }
  // Inputs are arguments: they begin each one's own part.
  for (const Program& program : linked->programs) EXPECT_EQ(placeOf(program, "image").offset, kStorages);
  for (const Program& program : linked->programs) {
    std::vector<estimate::Request> requests;
    std::vector<std::uint64_t> offsets;
    std::uint64_t top = 0, kinds = program.gaps;
    for (const Allocation& allocation : program.allocations) {
      EXPECT_EQ(allocation.persistent, allocation.offset < kStorages);
      requests.push_back({allocation.bytes, allocation.first, allocation.last});
      offsets.push_back(allocation.offset);
      top = std::max(top, estimate::alignUp(allocation.offset + allocation.bytes));
    }
    EXPECT_EQ(estimate::checkOverlap(requests, offsets).value_or(""), "");
    EXPECT_EQ(top, program.arena);
    for (const std::uint64_t bytes : program.kinds) kinds += bytes;
    EXPECT_EQ(kinds, program.arena);
  }
  // The step's velocities are there while the evaluation runs.
  EXPECT_EQ(linked->programs[1].kinds[static_cast<std::size_t>(estimate::Kind::Optimizer)], 240U + 40U);
}

TEST(Link, OneFunctionIsAsLargeAsBefore) {
  const Lowered step(layer(4, 5, true));
  const auto linked = estimate::link({{"the step", &step.net.g, step.program}});
  ASSERT_TRUE(linked);
  EXPECT_EQ(linked->arena, step.program.arena);
}

TEST(Link, AnotherTypeOrShapeIsRefusedWithBothNamed) {
  const Lowered step(layer(4, 5, true));
  const auto shape = linkTwo(step, Lowered(layer(4, 7, false)));
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error(), "`dense1.weight` is f64[5, 6] in the step and f64[7, 6] in the evaluation");
  const auto type = linkTwo(step, Lowered(layer(4, 5, false, TBEM_F32)));
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error(), "`dense1.weight` is f64[5, 6] in the step and f32[5, 6] in the evaluation");
}

}  // namespace
