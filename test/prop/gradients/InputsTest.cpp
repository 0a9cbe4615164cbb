// Gradients of the loss for inputs: against central differences, in f64 by plain loops, and beside those of weights.
#include "test/oracle/Graph.h"
#include "test/unit/graph/Fixture.h"

#include "compiler/graph/ir/Verify.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tbem::test {
namespace {

struct Case {
  const char* name;
  const char* network;  ///< its header behind `network net` and its body
  const char* inputs;   ///< of the design
  std::vector<std::string> wanted;
};

const Case kCases[] = {
    {"dense",
     "(x: tensor[n, 5]) -> tensor[n, 3] { return x |> dense(7) |> tanh |> dense(4) |> gelu |> dense(3) }",
     "input x: [3, 5]",
     {"x"}},
    {"convolution_with_norm",
     "(x: tensor[n, 3, h, w]) -> tensor[n, 2] {\n return x |> conv2d(out: 4, kernel: 3, pad: 1) |> batch_norm |> silu |> "
     "max_pool2d(kernel: 2) |> conv2d(out: 3, kernel: 3) |> tanh |> global_avg_pool |> dense(2)\n}",
     "input x: [2, 3, 8, 8]",
     {"x"}},
    {"attention",
     "(x: tensor[n, l, 8]) -> tensor[n, l, 8] {\n let y = x + multi_head_attention(layer_norm(x), heads: 2, causal: true)\n "
     "return y + (layer_norm(y) |> dense(12) |> gelu |> dense(8))\n}",
     "input x: [2, 4, 8]",
     {"x"}},
    {"no_weights", "(x: tensor[n, 4]) -> tensor[n, 4] { return x * x + exp(x) }", "input x: [3, 4]", {"x"}},
    {"several_inputs",
     "(a: tensor[n, 4], b: tensor[n, 4], c: tensor[n, 4]) -> tensor[n, 2] {\n return (a * b + tanh(c) + b) |> dense(2)\n}",
     "input a: [3, 4]\n input b: [3, 4]\n input c: [3, 4]",
     {"c", "b"}},
    {"used_by_a_reshape_alone",
     "(x: tensor[n, 2, 3]) -> tensor[n, 6] { return reshape(x, shape: [n, 6]) * 3 }",
     "input x: [2, 2, 3]",
     {"x"}},
};

std::string training(const Case& network) {
  return "network net" + std::string(network.network) + "\ndesign d of net {\n " + network.inputs +
         "\n task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n";
}

/// Largest difference between the numbers in `gradient` and those by central differences of the loss; largest number.
std::pair<double, double> farthest(oracle::GraphInterpreter& run, const graph::Graph& g, graph::TensorId input,
                                   const std::vector<double>& gradient) {
  constexpr double kStep = 1e-5;
  double worst = 0, largest = 0;
  const auto lossAt = [&](std::size_t i, double value) {
    run.of(input)[i] = value;
    run.run(graph::Phase::Forward);
    return run.of(g.loss)[0];
  };
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double before = run.of(input)[i];
    const double slope = (lossAt(i, before + kStep) - lossAt(i, before - kStep)) / (2 * kStep);
    run.of(input)[i] = before;
    worst = std::max(worst, std::fabs(slope - gradient[i]));
    largest = std::max(largest, std::fabs(gradient[i]));
  }
  return {worst, largest};
}

class InputGradients : public testing::TestWithParam<Case> {};

TEST_P(InputGradients, MatchCentralDifferences) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Built built(training(GetParam()), {.dtype = TBEM_F64, .wanted = GetParam().wanted});
    const std::optional<graph::Row> row = built.row();
    ASSERT_TRUE(row) << built.errors();
    const graph::Graph& g = row->graph();
    EXPECT_EQ(graph::verify(g), std::vector<std::string>{});
    ASSERT_EQ(g.wanted.size(), GetParam().wanted.size());
    oracle::GraphInterpreter run(*row);
    run.fillNormal(seed);
    run.run(graph::Phase::Backward);
    std::vector<std::vector<double>> gradients;
    for (const graph::Graph::Wanted& wanted : g.wanted) {
      ASSERT_NE(wanted.gradient, graph::kNoTensor);
      EXPECT_EQ(row->shape(wanted.gradient), row->shape(wanted.value));
      gradients.push_back(run.of(wanted.gradient));
    }
    for (std::size_t i = 0; i < g.wanted.size(); ++i) {
      EXPECT_EQ(g[g.wanted[i].value].name, GetParam().wanted[i]);
      const auto [worst, largest] = farthest(run, g, g.wanted[i].value, gradients[i]);
      EXPECT_GT(largest, 0);
      EXPECT_LT(worst, 2e-5 * std::max(largest, 1.0)) << "largest gradient " << largest;
    }
  }
}

TEST_P(InputGradients, LeaveThoseOfWeightsAsTheyAre) {
  Built with(training(GetParam()), {.dtype = TBEM_F64, .wanted = GetParam().wanted});
  Built without(training(GetParam()), {.dtype = TBEM_F64});
  const std::optional<graph::Row> row = with.row(), plain = without.row();
  ASSERT_TRUE(row && plain) << with.errors() << without.errors();
  EXPECT_TRUE(plain->graph().wanted.empty());
  const graph::Graph &g = row->graph(), &p = plain->graph();
  ASSERT_EQ(g.weights.size(), p.weights.size());
  oracle::GraphInterpreter run(*row), runPlain(*plain);
  run.fillNormal(5);
  runPlain.fillNormal(5);
  run.run(graph::Phase::Optimizer);
  runPlain.run(graph::Phase::Optimizer);
  for (std::size_t w = 0; w < g.weights.size(); ++w) {
    EXPECT_EQ(run.of(g.weights[w].gradient), runPlain.of(p.weights[w].gradient));
    EXPECT_EQ(run.of(g.weights[w].after), runPlain.of(p.weights[w].after));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, InputGradients, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(InputGradients, AreNoneWhereTheLossDoesNotDependOnTheInput) {
  Built built(
      "network net(x: tensor[n, 4], y: tensor[n, 4]) -> tensor[n, 2] {\n"
      " return cast(cast(y, to: i64), to: f64) + x |> dense(2)\n}\n"
      "design d of net {\n input x: [2, 4]\n input y: [2, 4]\n task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n",
      {.dtype = TBEM_F64, .wanted = {"y", "x"}});
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  ASSERT_EQ(row->graph().wanted.size(), 2U);
  EXPECT_EQ(row->graph().wanted[0].gradient, graph::kNoTensor);
  EXPECT_NE(row->graph().wanted[1].gradient, graph::kNoTensor);
}

/// What is said of a wanted input that has no gradient.
std::string errorsOf(const std::string& clause, const std::string& wanted) {
  Built built(
      "network net(x: tensor[n, 4], i: i64[n]) -> tensor[n, 2] {\n return x |> dense(2)\n}\n"
      "design d of net {\n input x: [4, 4]\n input i: [4]\n" +
          clause + " task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n",
      {.wanted = {wanted}});
  EXPECT_FALSE(built.row());
  return built.errors();
}

TEST(InputGradients, OfWhatHasNoneAreRefused) {
  EXPECT_NE(errorsOf("", "z").find("`z`"), std::string::npos);
  EXPECT_NE(errorsOf("", "i").find("floating"), std::string::npos);
  EXPECT_NE(errorsOf(" accumulate 2\n", "x").find("in parts"), std::string::npos);
}

}  // namespace
}  // namespace tbem::test
