// Convolutions as cuDNN is asked to run them, computed by a stand-in (test/standin/Cudnn.cpp), against ref.
#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"
#include "runtime/cudnn/Card.h"
#include "runtime/cudnn/Choice.h"
#include "test/unit/standin/Reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace tbem::cudnn {
namespace {

struct Case {
  const char* line;
  std::array<std::int64_t, 9> attributes;  ///< of the primitive: stride, padding, dilation, groups
};

constexpr std::array<Case, 5> kCases{{
    {" f32 nchw 2x3x7x6 4x3x3x2 stride 1,1 pad 0,0,0,0 dilation 1,1 groups 1", {1, 1, 0, 0, 0, 0, 1, 1, 1}},
    {" f32 nchw 3x4x9x8 6x2x3x3 stride 2,1 pad 1,1,1,1 dilation 1,2 groups 2", {2, 1, 1, 1, 1, 1, 1, 2, 2}},
    {" f32 nchw 1x5x6x5 10x1x2x3 stride 1,2 pad 1,0,0,2 dilation 2,1 groups 5", {1, 2, 1, 0, 0, 2, 2, 1, 5}},
    {" f32 nchw 2x8x4x4 8x8x1x1 stride 3,3 pad 0,0,0,0 dilation 1,1 groups 1", {3, 3, 0, 0, 0, 0, 1, 1, 1}},
    {" f32 nchw 2x1x1x1 1x1x3x3 stride 1,1 pad 1,1,1,1 dilation 1,1 groups 1", {1, 1, 1, 1, 1, 1, 1, 1, 1}},
}};

constexpr std::array<const char*, 3> kPasses{"forward", "data_gradient", "weight_gradient"};

std::string run(Plan& plan, const std::vector<void*>& tensors, void* workspace) { return plan.run(tensors, workspace); }

class Cards : public testing::TestWithParam<std::tuple<int, std::size_t>> {
protected:
  void SetUp() override {
    const auto path = findLibrary(TBEM_STANDIN, {});
    ASSERT_TRUE(path.has_value()) << path.error();
    const auto library = openLibrary(*path);
    ASSERT_TRUE(library.has_value()) << library.error();
    auto opened = Card::make(*library, nullptr);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    card.emplace(std::move(*opened));
    const auto [pass, number] = GetParam();
    const auto read = readConvolution(std::string(kPasses[static_cast<std::size_t>(pass)]) + kCases[number].line);
    ASSERT_TRUE(read.has_value());
    problem = *read;
  }

  std::optional<Engine> taken(List list = List::Heuristic) {
    const auto engines = card->engines(problem, list);
    EXPECT_TRUE(engines.has_value()) << engines.error();
    if (!engines) return std::nullopt;
    const auto which = first(problem, *engines, {.tf32 = false, .nondeterministic = false});
    return which ? std::optional((*engines)[*which]) : std::nullopt;
  }

  std::optional<Card> card;
  Convolution problem;
};

tbem_operand operandOf(const std::array<std::int64_t, 4>& dims) { return runtime::plainOperand(TBEM_F32, dims); }

/// What ref makes of the pass; the operand that it computes is written.
void runReference(const Convolution& problem, const std::array<std::int64_t, 9>& attributes, float* x, float* weight, float* y) {
  const tbem_operand image = operandOf(problem.x()), kernel = operandOf(problem.weight()), result = operandOf(problem.y());
  std::vector<tbem_operand> operands;
  std::vector<void*> memory;
  tbem_primitive primitive = TBEM_PRIMITIVE_conv2d;
  if (problem.pass == Pass::Forward) {
    operands = {image, kernel, tbem_operand{}, result};
    memory = {x, weight, nullptr, y};
  } else if (problem.pass == Pass::DataGradient) {
    primitive = TBEM_PRIMITIVE_conv2d_input_gradient;
    operands = {result, kernel, image};
    memory = {y, weight, x};
  } else {
    primitive = TBEM_PRIMITIVE_conv2d_weight_gradient;
    operands = {image, result, kernel};
    memory = {x, y, weight};
  }
  const tbem_op_desc op{sizeof(tbem_op_desc),
                        primitive,
                        static_cast<int>(operands.size()) - 1,
                        1,
                        operands.data(),
                        attributes.data(),
                        static_cast<int>(attributes.size()),
                        1,
                        0};
  ASSERT_EQ(runtime::checkDescription(op), "");
  test::runReference(op, memory.data());
}

/// Small whole numbers, so that every sum is exact. Begins at a multiple of 16 bytes, as memory from `new` does.
std::vector<float> numbers(const std::array<std::int64_t, 4>& dims, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<float> values(static_cast<std::size_t>(dims[0] * dims[1] * dims[2] * dims[3]));
  std::generate(values.begin(), values.end(), [&] { return static_cast<float>(random() % 9) - 4; });
  return values;
}

TEST_P(Cards, ComputeWhatRefDoes) {
  const auto engine = taken();
  ASSERT_TRUE(engine.has_value());
  auto plan = card->plan(problem, *engine);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  EXPECT_EQ(plan->workspace(), engine->workspace);
  std::vector<std::byte> workspace(plan->workspace());
  for (const std::uint32_t seed : {1U, 2U}) {  // the second time at other addresses
    std::vector<float> x = numbers(problem.x(), seed), weight = numbers(problem.weight(), seed + 10),
                       y = numbers(problem.y(), seed + 20);
    std::vector<float> expectedX = x, expectedWeight = weight, expectedY = y;
    ASSERT_NO_FATAL_FAILURE(runReference(problem, kCases[std::get<1>(GetParam())].attributes, expectedX.data(),
                                         expectedWeight.data(), expectedY.data()));
    EXPECT_EQ(run(*plan, {x.data(), weight.data(), y.data()}, workspace.data()), "");
    EXPECT_EQ(x, expectedX);
    EXPECT_EQ(weight, expectedWeight);
    EXPECT_EQ(y, expectedY);
    EXPECT_EQ(run(*plan, {x.data(), weight.data(), y.data()}, workspace.data()), "");  // and once more
    EXPECT_EQ(y, expectedY);
  }
}

TEST_P(Cards, RefuseWhatTheLibraryHasNot) {
  auto engine = taken();
  ASSERT_TRUE(engine.has_value());
  ASSERT_FALSE(engine->knobs.empty());
  engine->knobs.back() += 1;
  const auto plan = card->plan(problem, *engine);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error(), "cuDNN refuses an engine's configuration: NOT_SUPPORTED: told by a stand-in");
}

TEST_P(Cards, TellWhatGoesWrongInARunAndGoOn) {
  const auto engine = taken();
  ASSERT_TRUE(engine.has_value());
  auto plan = card->plan(problem, *engine);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  std::vector<float> x = numbers(problem.x(), 1), weight = numbers(problem.weight(), 2), y = numbers(problem.y(), 3);
  std::vector<std::byte> workspace(plan->workspace());
  EXPECT_EQ(run(*plan, {x.data() + 1, weight.data(), y.data()}, workspace.data()),
            "cuDNN refuses to run a convolution: BAD_PARAM: told by a stand-in");
  EXPECT_EQ(run(*plan, {x.data(), weight.data(), y.data()}, workspace.data()), "");
}

INSTANTIATE_TEST_SUITE_P(Cudnn, Cards, testing::Combine(testing::Range(0, 3), testing::Range<std::size_t>(0, kCases.size())));

}  // namespace
}  // namespace tbem::cudnn
