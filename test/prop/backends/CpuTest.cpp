// cpu in f32 against ref in f64: 200 random problems for each primitive, in random layouts where a caller may choose them. Every
// run also checks guard bytes, untouched inputs, zero padding (Problem.h), and that a second run gives the same bits: with
// another number of threads where the loops are ours.
#include "test/problems/Random.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>

namespace tbem::test {
namespace {

bool libraryChooses(tbem_primitive p) {
  return p == TBEM_PRIMITIVE_conv2d || p == TBEM_PRIMITIVE_conv2d_input_gradient || p == TBEM_PRIMITIVE_conv2d_weight_gradient ||
         p == TBEM_PRIMITIVE_dense || p == TBEM_PRIMITIVE_dense_input_gradient || p == TBEM_PRIMITIVE_dense_weight_gradient ||
         p == TBEM_PRIMITIVE_matmul || p == TBEM_PRIMITIVE_arg_max || p == TBEM_PRIMITIVE_cross_entropy ||
         p == TBEM_PRIMITIVE_cross_entropy_gradient || p == TBEM_PRIMITIVE_row_gradient_sums;
}

/// Layouts as a caller may fix them: all operands of rank 3 or more alike; each on its own where a primitive only moves elements.
std::function<void(std::vector<tbem_operand>&)> randomLayouts(const Problem& problem, Random& r) {
  const tbem_primitive primitive = problem.primitive;
  if (libraryChooses(primitive)) return {};
  // A gather by a vector follows its operand's layout, unless channels in blocks are what it gathers.
  const bool gathers = primitive == TBEM_PRIMITIVE_gather || primitive == TBEM_PRIMITIVE_gather_gradient;
  if (gathers && (problem.inputs[1]->dims.size() != 1 || problem.attributes[0] == 1)) return {};
  const bool each = primitive == TBEM_PRIMITIVE_permute || primitive == TBEM_PRIMITIVE_pad || primitive == TBEM_PRIMITIVE_slice ||
                    primitive == TBEM_PRIMITIVE_reorder || primitive == TBEM_PRIMITIVE_concat;
  std::vector<int> kinds(6, static_cast<int>(r.integer(0, kKinds - 1)));
  const std::int64_t left = r.integer(0, 5);  // an operand left to the backend
  for (int& kind : kinds) kind = each ? static_cast<int>(r.integer(0, kKinds - 1)) : kind;
  return [kinds, left](std::vector<tbem_operand>& operands) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].present && static_cast<std::int64_t>(k) != left) setKind(operands[k], kinds[k]);
    }
  };
}

class Cpu : public testing::TestWithParam<int> {};

TEST_P(Cpu, AgreesWithRef) {
  const auto primitive = static_cast<tbem_primitive>(GetParam());
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(1000 * static_cast<std::uint64_t>(primitive) + seed);
    const Problem problem = randomProblem(primitive, random);
    const auto layouts = randomLayouts(problem, random);
    const Outcome expected = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    ASSERT_EQ(expected.status, TBEM_OK) << problem.text() << ": " << expected.error;
    const Settings settings{TBEM_F32, static_cast<int>(random.integer(1, 2)), layouts};
    const Outcome first = runOn(*tbem_backend_cpu(), problem, settings);
    ASSERT_EQ(first.status, TBEM_OK) << problem.text() << " seed " << seed << ": " << first.error;
    EXPECT_NE(first.implementation.substr(0, 4), "ref:") << problem.text();
    // The library's results may depend on the number of threads; our own loops' must not.
    Settings repeated = settings;
    if (first.implementation.starts_with("tbem:")) repeated.threads = 3 - settings.threads;
    const Outcome again = runOn(*tbem_backend_cpu(), problem, repeated);
    for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
      EXPECT_LE(distance(first.outputs[k], expected.outputs[k]), 5e-6)
          << problem.text() << " seed " << seed << " by " << first.implementation;
      EXPECT_EQ(first.bytes[k], again.bytes[k])
          << problem.text() << " seed " << seed << " by " << first.implementation << ": other bits";
    }
    if (HasFailure()) break;
  }
}

/// All but those that move rows of samples (RowsTest.cpp), and attention, which is computed by others.
std::vector<int> arithmetic() {
  std::vector<int> all;
  for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
    const bool others = p == TBEM_PRIMITIVE_attention || p == TBEM_PRIMITIVE_attention_gradient;
    if (p != TBEM_PRIMITIVE_split_rows && p != TBEM_PRIMITIVE_move_rows && !others) all.push_back(p);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Primitives, Cpu, testing::ValuesIn(arithmetic()), [](const auto& info) {
  return std::string(runtime::signature(static_cast<tbem_primitive>(info.param)).name);
});

/// Operands whose dimensions lie in another order, as a permutation leaves them, are read where they are.
TEST(CpuProducts, TakeOperandsInAnyOrderOfDimensions) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(91000 + seed);
    const Problem problem = randomProblem(TBEM_PRIMITIVE_matmul, random);
    const auto permuted = [&random](std::vector<tbem_operand>& operands) {
      for (tbem_operand& operand : operands) {
        std::vector<int> order(static_cast<std::size_t>(operand.rank));
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t d = order.size(); d-- > 1;)
          std::swap(order[d], order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(d)))]);
        runtime::setBlocked(operand, order, {});
      }
    };
    const Outcome found = runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 2, permuted, seed % 2 == 0 ? 0 : 2});
    if (found.status == TBEM_UNSUPPORTED) {
      ++refused;
      continue;
    }
    ASSERT_EQ(found.status, TBEM_OK) << problem.text() << " seed " << seed << ": " << found.error;
    const Outcome expected = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    EXPECT_LE(distance(found.outputs[0], expected.outputs[0]), 5e-6) << problem.text() << " by " << found.implementation;
    if (HasFailure()) break;
  }
  RecordProperty("refused", refused);
  EXPECT_LT(refused, 200);
}

/// A dense layer and the gradients of its input and of its weight.
std::array<Problem, 3> denseProblems(Random& random, std::int64_t rows, std::int64_t in, std::int64_t out, bool biased) {
  const Array x = random.array({rows, in}), weight = random.array({out, in}), dy = random.array({rows, out});
  std::optional<Array> bias;
  if (biased) bias = random.array({out});
  return {Problem{TBEM_PRIMITIVE_dense, {}, {}, {x, weight, bias}, {Array{{rows, out}, {}, false}}},
          Problem{TBEM_PRIMITIVE_dense_input_gradient, {}, {}, {dy, weight}, {Array{{rows, in}, {}, false}}},
          Problem{TBEM_PRIMITIVE_dense_weight_gradient, {}, {}, {x, dy}, {Array{{out, in}, {}, false}}}};
}

/// Whole blocks of rows and outputs, strips of inputs, and what is left of each.
TEST(CpuProducts, FewRowsAgreeWithRef) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(95000 + seed);
    const std::int64_t rows = random.integer(1, 64), in = random.integer(1, 200), out = random.integer(1, 150);
    const std::array<Problem, 3> problems = denseProblems(random, rows, in, out, seed % 2 == 0);
    for (const Problem& problem : problems) {
      const Outcome one = runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 1, {}, 1});
      ASSERT_EQ(one.status, TBEM_OK) << problem.text() << ": " << one.error;
      EXPECT_EQ(one.implementation, "tbem:thin");
      EXPECT_LE(distance(one.outputs[0], runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}}).outputs[0]), 5e-6)
          << problem.text();
      EXPECT_EQ(one.bytes[0], runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 2, {}, 1}).bytes[0]) << "other bits of two threads";
    }
    if (HasFailure()) break;
  }
}

/// A dense layer's weight may lie transposed, in all three directions; the library puts it so where that is faster.
TEST(CpuProducts, TransposedWeightsAgreeWithRef) {
  int own = 0;
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    Random random(94000 + seed);
    const std::int64_t rows = random.integer(1, 130), in = random.integer(1, 70), out = random.integer(1, 40);
    const std::array<Problem, 3> problems = denseProblems(random, rows, in, out, seed % 2 == 0);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const std::size_t place = i == 2 ? 2 : 1;
      const Outcome expected = runOn(*tbem_backend_ref(), problems[i], {TBEM_F64, 1, {}});
      for (const bool transposed : {false, true}) {
        Settings settings{
            TBEM_F32, static_cast<int>(random.integer(1, 2)), {}, static_cast<std::int32_t>(random.integer(0, 1)) * 2};
        if (transposed) {
          settings.layouts = [place](std::vector<tbem_operand>& operands) {
            runtime::setBlocked(operands[place], std::array{1, 0}, {});
          };
        }
        const Outcome found = runOn(*tbem_backend_cpu(), problems[i], settings);
        ASSERT_EQ(found.status, TBEM_OK) << problems[i].text() << ": " << found.error;
        EXPECT_LE(distance(found.outputs[0], expected.outputs[0]), 5e-6) << problems[i].text() << " transposed " << transposed;
        EXPECT_EQ(found.bytes[0], runOn(*tbem_backend_cpu(), problems[i], settings).bytes[0]) << "other bits";
        own += !transposed && found.implementation != "tbem:packed" && out > 1 && in > 1 &&
                       found.operands[place].layout.strides[0] == 1
                   ? 1
                   : 0;
      }
    }
    if (HasFailure()) break;
  }
  EXPECT_GE(own, 10);
}

/// The algorithm that packs into space from the plan: the default of one kind of processor and number 2 of another.
Outcome runPacked(const Problem& problem, int threads) {
  for (const std::int32_t algorithm : {0, 2}) {
    Outcome outcome = runOn(*tbem_backend_cpu(), problem, {TBEM_F32, threads, {}, algorithm});
    if (outcome.status != TBEM_OK || outcome.implementation == "tbem:packed") return outcome;
  }
  return {};
}

/// Tiles that the edge cuts, several blocks of rows, of columns and of the depth.
TEST(CpuProducts, PackedAgreeWithRef) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(96000 + seed);
    const auto size = [&](std::uint64_t turn) { return random.integer(1, seed % 4 == turn ? 1200 : 60); };
    const std::array<Problem, 3> problems = denseProblems(random, size(0), size(1), size(2), seed % 2 == 0);
    for (const Problem& problem : problems) {
      const Outcome found = runPacked(problem, 1);
      ASSERT_EQ(found.status, TBEM_OK) << problem.text() << ": " << found.error;
      ASSERT_EQ(found.implementation, "tbem:packed");
      EXPECT_LE(distance(found.outputs[0], runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}}).outputs[0]), 5e-6)
          << problem.text();
      EXPECT_EQ(found.bytes[0], runPacked(problem, 2).bytes[0]) << "other bits of two threads";
    }
    if (HasFailure()) break;
  }
}

/// What a product of fewer rows needs lies in the space that is planned for more: a step of a gated network runs both.
TEST(CpuProducts, FewerRowsPackIntoNoMore) {
  std::uint64_t before = 0;
  for (std::int64_t rows = 1; rows < 1200; ++rows) {
    tbem_operand operands[3] = {runtime::plainOperand(TBEM_F32, {rows, 300}), runtime::plainOperand(TBEM_F32, {rows, 70}),
                                runtime::plainOperand(TBEM_F32, {70, 300})};
    std::uint64_t workspace = 0;
    for (const std::int32_t algorithm : {0, 2}) {
      tbem_op_desc desc{};
      desc.size = sizeof desc;
      desc.primitive = TBEM_PRIMITIVE_dense_weight_gradient;
      desc.inputs = 2, desc.outputs = 1, desc.operands = operands, desc.threads = 1, desc.algorithm = algorithm;
      tbem_op_info info{};
      ASSERT_EQ(tbem_backend_cpu()->query(&desc, &info), TBEM_OK);
      if (std::string(info.implementation) == "tbem:packed") workspace = info.workspace;
    }
    ASSERT_GE(workspace, before) << rows << " rows";
    before = workspace;
  }
}

TEST(CpuProducts, ManyRowsAreNotThin) {
  Random random(9);
  const Problem many{
      TBEM_PRIMITIVE_dense, {}, {}, {random.array({65, 8}), random.array({4, 8}), std::nullopt}, {Array{{65, 4}, {}, false}}};
  EXPECT_EQ(runOn(*tbem_backend_cpu(), many, {TBEM_F32, 1, {}, 1}).status, TBEM_UNSUPPORTED);
}

}  // namespace
}  // namespace tbem::test
