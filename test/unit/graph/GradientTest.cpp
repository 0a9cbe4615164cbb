// Gradients of every differentiable operator against central differences of the loss, in f64 on the ref backend.
#include "Fixture.h"
#include "compiler/graph/ir/Verify.h"
#include "test/oracle/Graph.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace tbem::test {
namespace {

struct Case {
  const char* name;
  const char* body;  ///< of a network of x: tensor[n, 3, 6, 6]
  double tolerance = 2e-6;
};

const Case kCases[] = {
    {"conv2d", "return x |> conv2d(out: 4, kernel: 3)"},
    {"conv2d_stride_pad", "return x |> conv2d(out: 2, kernel: [3, 2], stride: 2, pad: [1, 0, 2, 1])"},
    {"conv2d_groups",
     "return x |> conv2d(out: 4, kernel: 1) |> conv2d(out: 6, kernel: 3, groups: 2, dilation: 2, use_bias: false)"},
    {"dense", "return x |> flatten |> dense(5) |> dense(3, use_bias: false)"},
    {"batch_norm", "return x |> conv2d(out: 4, kernel: 3) |> batch_norm |> conv2d(out: 2, kernel: 1)", 1e-5},
    {"max_pool", "return x |> conv2d(out: 2, kernel: 3, pad: 1) |> max_pool2d(kernel: 3, stride: 2, pad: 1)"},
    {"avg_pool",
     "return x |> conv2d(out: 2, kernel: 3, pad: 1) |> avg_pool2d(kernel: 3, stride: 2, pad: 1, count_include_pad: false)"},
    {"avg_pool_pad", "return x |> conv2d(out: 2, kernel: 3, pad: 1) |> avg_pool2d(kernel: 2, pad: 1)"},
    {"adaptive_pool", "return x |> conv2d(out: 2, kernel: 1) |> adaptive_avg_pool2d(size: [4, 5])"},
    {"global_pool", "return x |> conv2d(out: 2, kernel: 1) |> global_avg_pool"},
    {"smooth", "let y = conv2d(x, out: 3, kernel: 1)\n return sigmoid(y) + tanh(y) * silu(y) - gelu(y) / (softplus(y) + 1)"},
    {"exponential",
     "let y = conv2d(x, out: 3, kernel: 1)\n return log(exp(y) + 1) + sqrt(square(y) + 1) + rsqrt(y * y + 2) + pow(y * y + 1, "
     "exponent: 1.5)"},
    {"kinked",
     "let y = conv2d(x, out: 3, kernel: 1)\n return relu(y) + relu6(4 * y) + leaky_relu(y, slope: 0.2) + elu(y) + abs(y) + "
     "clamp(y, low: -0.3, high: 0.4)"},
    {"extrema", "let y = conv2d(x, out: 3, kernel: 1)\n return maximum(y, x) * minimum(x, 2 * y)"},
    {"numbers", "let y = conv2d(x, out: 3, kernel: 1)\n return 2 - (y - 1) / 3 + 1 / (y * y + 2) - (-y)"},
    {"broadcast",
     "let y = conv2d(x, out: 3, kernel: 1)\n let m = mean(y, axis: [0, 2, 3])\n return y * reshape(m, shape: [1, 3, 1, 1]) + y / "
     "(reshape(m, shape: [3, 1, 1]) + 5)"},
    {"reductions",
     "let y = conv2d(x, out: 3, kernel: 1)\n return sum(y, axis: 1) + max(y, axis: 1) * mean(y, axis: -3) + variance(y, axis: "
     "1)"},
    {"softmaxes", "let y = conv2d(x, out: 3, kernel: 1)\n return softmax(y, axis: 1) + log_softmax(y, axis: 3)"},
    {"moves",
     "let y = conv2d(x, out: 3, kernel: 1)\n return permute(y, order: [0, 2, 1, 3]) |> transpose |> pad(low: [0, 1, 0, 2], high: "
     "[0, 0, 3, 1], interior: [0, 0, 1, 2]) |> slice(start: [0, 1, 2, 1], size: [2, 3, 2, 4], stride: [1, 2, 3, 2])"},
    {"lists",
     "let y = conv2d(x, out: 2, kernel: 1)\n let z = concat([y, x, conv2d(x, out: 3, kernel: 1), y], axis: 1)\n let parts = "
     "split(z, sizes: [3, 2, 5], axis: 1)\n return tanh(concat([parts[2], parts[0] * parts[0]], axis: 1)) |> dense(2)"},
    {"stacks", "let y = conv2d(x, out: 3, kernel: 1)\n return stack([y, tanh(y), x], axis: 4) * stack([x, y, y * y], axis: 4)"},
    {"indices",
     "let y = conv2d(x, out: 4, kernel: 1)\n let i = argmax(x, axis: 1)\n let rows = gather(y, cast(constant([3, 0, 3, 2, 1]), "
     "to: "
     "i64), axis: 1)\n return sum(rows, axis: 1) * cast(i, to: f64) + sum(gather(embedding(arange(6), vocab: 6, width: 5), "
     "argmin(x, "
     "axis: 1), axis: 0), axis: 3)"},
    {"choices",
     "let y = conv2d(x, out: 3, kernel: 1)\n return where(x > 0.2 and not (x > 1) or x < -1, y * y, sum(y, axis: [0, 1])) * "
     "cast(cast(y, to: f32), to: f64) + min(y, axis: 0)"},
    {"transposed_convolutions",
     "let y = conv_transpose2d(x, out: 4, kernel: 3, stride: 2, pad: [1, 0, 1, 1], output_pad: [1, 0])\n return "
     "conv_transpose2d(y, "
     "out: 2, kernel: [1, 2], dilation: [1, 2], groups: 2, use_bias: false)"},
    {"convolution_of_lines",
     "let y = conv1d(reshape(x, shape: [2, 6, 18]), out: 4, kernel: 3, stride: 2, pad: 1, groups: 2)\n return max_pool1d(y, "
     "kernel: 3, "
     "stride: 2, pad: 1)"},
    {"convolution_of_volumes",
     "let y = conv3d(reshape(x, shape: [2, 3, 4, 3, 3]), out: 2, kernel: [2, 3, 2], stride: [1, 2, 1], pad: [1, 1, 0])\n return "
     "max_pool3d(y, kernel: [2, 2, 1], stride: [2, 1, 1], pad: [1, 0, 0])"},
    {"pools_over_the_edge",
     "return x |> conv2d(out: 2, kernel: 1) |> max_pool2d(kernel: 3, stride: 2, pad: 1, ceil_mode: true) |> "
     "max_pool2d(kernel: 2, stride: 3, ceil_mode: true)"},
    {"sizes",
     "let y = conv2d(x, out: 4, kernel: 3)\n return upsample2d(y, size: [7, 9]) + upsample2d(y, size: [7, 9], mode: "
     "\"bilinear\") * "
     "upsample2d(pixel_shuffle(y, factor: 2), size: [7, 9], mode: \"bilinear\", align_corners: true)"},
    {"edges",
     "let y = conv2d(x, out: 2, kernel: 3)\n return pad_reflect(y, low: [0, 0, 2, 0], high: [0, 0, 3, 1]) * pad_edge(y, low: [0, "
     "0, 2, "
     "1], high: [0, 0, 3, 0])"},
    {"matmuls",
     "let a = conv2d(x, out: 2, kernel: 1)\n let b = conv2d(x, out: 2, kernel: [3, 1], pad: [1, 0])\n return matmul(a, b) + "
     "matmul(a, b, transpose_a: true) + matmul(a, b, transpose_b: true) + matmul(a, b, transpose_a: true, transpose_b: true)"},
    {"shared",
     "let c = conv2d(out: 3, kernel: 3, pad: 1)\n var y = c(x)\n for i in 0 .. 2 { y = y |> c |> tanh }\n return y + x"},
    {"residual", "return x |> residual(out: 4, stride: 2) |> bottleneck(width: 2)", 2e-5},
    {"dropout", "return x |> conv2d(out: 3, kernel: 1) |> dropout(0.4) |> tanh"},
};

/// The gradient of every weight of a training program against central differences of its loss, at random values.
void expectGradients(const std::string& program, double tolerance, std::uint64_t seed) {
  Built built(program, {.dtype = TBEM_F64});
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& g = row->graph();
  EXPECT_EQ(graph::verify(g), std::vector<std::string>{});
  oracle::GraphInterpreter run(*row);
  run.fillNormal(seed);
  run.run(graph::Phase::Backward);
  ASSERT_FALSE(g.weights.empty());
  double worst = 0, norm = 0;
  std::vector<std::vector<double>> gradients;
  for (const graph::Graph::Weight& weight : g.weights) {
    ASSERT_NE(weight.gradient, graph::kNoTensor);
    gradients.push_back(run.of(weight.gradient));
  }
  for (std::size_t w = 0; w < g.weights.size(); ++w) {
    for (std::size_t i = 0; i < gradients[w].size(); ++i) {
      double& value = run.of(g.weights[w].value)[i];
      const double before = value, h = 1e-5;
      value = before + h;
      run.run(graph::Phase::Forward);
      const double above = run.of(g.loss)[0];
      value = before - h;
      run.run(graph::Phase::Forward);
      const double below = run.of(g.loss)[0];
      value = before;
      worst = std::max(worst, std::fabs((above - below) / (2 * h) - gradients[w][i]));
      norm = std::max(norm, std::fabs(gradients[w][i]));
    }
  }
  EXPECT_GT(norm, 0);
  EXPECT_LT(worst, tolerance * std::max(norm, 1.0)) << "largest gradient " << norm;
}

std::string training(const std::string& body, const std::string& input) {
  return "network net(x: tensor[n, c, h, w]) -> tensor[..s] {\n " + body + "\n}\ndesign d of net {\n input x: " + input +
         "\n task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n";
}

class Gradients : public testing::TestWithParam<Case> {};

TEST_P(Gradients, MatchCentralDifferences) {
  expectGradients(training(GetParam().body, "[2, 3, 6, 6]"), GetParam().tolerance, 11);
}

/// Convolutions, activations and pools of random shape, stride, padding, dilation and groups.
TEST(Gradients, OfRandomGeometryMatchCentralDifferences) {
  const char* const kActivations[] = {"relu", "tanh", "sigmoid", "silu", "gelu", "elu", "softplus", "leaky_relu", "batch_norm"};
  std::mt19937_64 random(2026);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 60; ++i) {
    const int groups = pick(1, 3), channels = groups * pick(1, 2), out = groups * pick(1, 2);
    const std::string conv = fmt::format(
        "conv2d(out: {}, kernel: [{}, {}], stride: [{}, {}], pad: [{}, {}, {}, {}], dilation: [{}, {}], groups: {}, use_bias: "
        "{})",
        out, pick(1, 3), pick(1, 3), pick(1, 2), pick(1, 3), pick(0, 2), pick(0, 2), pick(0, 2), pick(0, 2), pick(1, 2),
        pick(1, 2), groups, pick(0, 1) == 1 ? "true" : "false");
    const std::string pools[] = {
        fmt::format("max_pool2d(kernel: 2, stride: {}, pad: 1)", pick(1, 2)),
        fmt::format("avg_pool2d(kernel: [2, 1], pad: [1, 0, 1, 0], count_include_pad: {})", pick(0, 1) == 1 ? "true" : "false"),
        fmt::format("adaptive_avg_pool2d(size: [{}, {}])", pick(1, 3), pick(1, 3)), "global_avg_pool", "flatten |> dense(3)"};
    const std::string body = fmt::format("return x |> {} |> {} |> {}", conv, kActivations[pick(0, 8)], pools[pick(0, 4)]);
    SCOPED_TRACE(body);
    expectGradients(training(body, fmt::format("[{}, {}, {}, {}]", pick(2, 3), channels, pick(5, 8), pick(5, 8))), 2e-5, 100 + i);
  }
}

/// A body's own `backward` counts, not what is inside: here the slope 2 passes as 5, and what has none passes as 3.
TEST(Gradients, OfABodyCanBeGiven) {
  const auto gradientOf = [](const std::string& body) {
    Built built(
        "block twice(x: tensor[..s]) -> (y: tensor[..s])\n backward x: 5 * dy\n{ return 2 * x }\n"
        "block steps(x: tensor[..s]) -> (y: tensor[..s])\n backward x: 3 * dy\n{ return cast(cast(twice(x), to: i64), to: f64) "
        "}\n"
        "block same(x: tensor[..s]) -> (y: tensor[..s])\n backward x: -dy\n{ return x }\n" +
            training(body, "[2, 3, 2, 2]"),
        {.dtype = TBEM_F64});
    const std::optional<graph::Row> row = built.row();
    EXPECT_TRUE(row) << built.errors();
    if (!row) return std::vector<double>{};
    EXPECT_EQ(graph::verify(row->graph()), std::vector<std::string>{});
    oracle::GraphInterpreter run(*row);
    std::mt19937_64 random(17);
    std::normal_distribution<double> normal;
    for (const graph::TensorId input : row->graph().inputs)
      for (double& value : run.of(input)) value = normal(random);
    for (double& value : run.of(row->graph().weights[0].value)) value = normal(random);
    run.run(graph::Phase::Backward);
    return run.of(row->graph().weights[0].gradient);
  };
  const std::string layer = "let y = conv2d(x, out: 2, kernel: 1, use_bias: false)\n return ";
  const auto expectMultiple = [&](const std::string& own, const std::string& plain, double factor) {
    const std::vector<double> a = gradientOf(layer + own), b = gradientOf(layer + plain);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], factor * b[i], 1e-12 * std::fabs(a[i])) << own;
  };
  expectMultiple("twice(y)", "y * 2", 2.5);
  expectMultiple("twice(y) + 0 * y", "y * 2", 2.5);
  expectMultiple("same(y)", "y", -1);
  const std::vector<double> stepped = gradientOf(layer + "steps(y)");
  EXPECT_TRUE(std::any_of(stepped.begin(), stepped.end(), [](double g) { return g != 0; }));
}

INSTANTIATE_TEST_SUITE_P(Operators, Gradients, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Optimizers, SgdWithMomentumDecayAndNesterovMatchesTheirDefinition) {
  Built built(
      "network net(x: tensor[n, 3]) -> tensor[n, 2] { return dense(x, 2) }\n"
      "design d of net {\n input x: [2, 3]\n task train(loss: mse, optimizer: sgd(lr: 0.1, momentum: 0.9, nesterov: true, "
      "weight_decay: 0.01))\n}\n",
      {.dtype = TBEM_F64});
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& g = row->graph();
  ASSERT_EQ(g.states.size(), 2U);
  EXPECT_EQ(g[g[g.states[0]].storage].path, "dense.weight.velocity");
  oracle::GraphInterpreter run(*row);
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (const graph::TensorId input : g.inputs)
    for (double& value : run.of(input)) value = normal(random);
  for (const graph::Graph::Weight& weight : g.weights)
    for (double& value : run.of(weight.value)) value = normal(random);
  for (const graph::TensorId state : g.states)
    for (double& value : run.of(state)) value = normal(random);
  const std::vector<double> w = run.of(g.weights[0].value), v = run.of(g.states[0]);
  run.run(graph::Phase::Optimizer);
  const std::vector<double> gradient = run.of(g.weights[0].gradient);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double decayed = gradient[i] + 0.01 * w[i], velocity = 0.9 * v[i] + decayed;
    EXPECT_NEAR(run.of(g.states[0])[i], velocity, 1e-12);
    EXPECT_NEAR(run.of(g.weights[0].after)[i], w[i] - 0.1 * (decayed + 0.9 * velocity), 1e-12);
  }
}

TEST(Optimizers, AdamMatchesAlgorithm1) {
  Built built(
      "network net(x: tensor[n, 3]) -> tensor[n, 2] { return dense(x, 2, use_bias: false) }\n"
      "design d of net {\n input x: [2, 3]\n task train(loss: mse, optimizer: adam(lr: 0.01))\n}\n",
      {.dtype = TBEM_F64});
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const graph::Graph& g = row->graph();
  oracle::GraphInterpreter run(*row);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const graph::TensorId input : g.inputs)
    for (double& value : run.of(input)) value = normal(random);
  for (double& value : run.of(g.weights[0].value)) value = normal(random);
  const std::vector<double> w = run.of(g.weights[0].value);
  run.run(graph::Phase::Optimizer);  // step 1: moments start at zero, so the step is lr * g / (|g| + eps)
  const std::vector<double> gradient = run.of(g.weights[0].gradient);
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(run.of(g.weights[0].after)[i], w[i] - 0.01 * gradient[i] / (std::fabs(gradient[i]) + 1e-8), 1e-9);
  }
}

}  // namespace
}  // namespace tbem::test
