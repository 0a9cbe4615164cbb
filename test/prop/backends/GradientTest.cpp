// The gradient primitives against central differences of ref's forward primitives in f64: for random directions d,
//   (f(x + h d) - f(x - h d)) / 2h . dy  =  df . d.
#include "test/problems/Random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tbem::test {
namespace {

using Values = std::vector<double>;

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Values evaluate(const Problem& problem) {
  const Outcome outcome = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
  EXPECT_EQ(outcome.status, TBEM_OK) << problem.text() << ": " << outcome.error;
  return outcome.outputs.at(0);
}

/// dy . df/dx d by central differences in input `which`. The function is linear or smooth: an error of h^2, h = 1e-5.
double byDifferences(const Problem& forward, std::size_t which, const Values& direction, const Values& dy) {
  constexpr double h = 1e-5;
  Problem there = forward, back = forward;
  for (std::size_t i = 0; i < direction.size(); ++i) {
    there.inputs[which]->values[i] += h * direction[i];
    back.inputs[which]->values[i] -= h * direction[i];
  }
  return (dot(evaluate(there), dy) - dot(evaluate(back), dy)) / (2 * h);
}

struct Pair {
  tbem_primitive forward;
  std::size_t input;  ///< of the forward primitive, that the gradient is taken in
  /// The gradient primitive's problem, from the forward one, its result and dy.
  std::function<Problem(const Problem&, const Array& y, const Array& dy)> gradient;
  const char* name;
};

Array like(const Array& a) { return {a.dims, {}, false}; }

const Pair kPairs[] = {
    {TBEM_PRIMITIVE_conv2d, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_conv2d_input_gradient, f.attributes, {}, {dy, f.inputs[1]}, {like(*f.inputs[0])}};
     },
     "conv2d_input"},
    {TBEM_PRIMITIVE_conv2d, 1,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_conv2d_weight_gradient, f.attributes, {}, {f.inputs[0], dy}, {like(*f.inputs[1])}};
     },
     "conv2d_weight"},
    {TBEM_PRIMITIVE_dense, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_dense_input_gradient, {}, {}, {dy, f.inputs[1]}, {like(*f.inputs[0])}};
     },
     "dense_input"},
    {TBEM_PRIMITIVE_dense, 1,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_dense_weight_gradient, {}, {}, {f.inputs[0], dy}, {like(*f.inputs[1])}};
     },
     "dense_weight"},
    {TBEM_PRIMITIVE_reduce_max, 0,
     [](const Problem& f, const Array& y, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_reduce_max_gradient, f.attributes, {}, {dy, f.inputs[0], y}, {like(*f.inputs[0])}};
     },
     "reduce_max"},
    {TBEM_PRIMITIVE_max_pool2d, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_max_pool2d_gradient, f.attributes, {}, {dy, f.inputs[0]}, {like(*f.inputs[0])}};
     },
     "max_pool2d"},
    {TBEM_PRIMITIVE_avg_pool2d, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_avg_pool2d_gradient, f.attributes, {}, {dy}, {like(*f.inputs[0])}};
     },
     "avg_pool2d"},
    {TBEM_PRIMITIVE_adaptive_avg_pool2d, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient, {}, {}, {dy}, {like(*f.inputs[0])}};
     },
     "adaptive_avg_pool2d"},
    {TBEM_PRIMITIVE_softmax, 0,
     [](const Problem& f, const Array& y, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_softmax_gradient, f.attributes, {}, {dy, y}, {like(*f.inputs[0])}};
     },
     "softmax"},
    {TBEM_PRIMITIVE_log_softmax, 0,
     [](const Problem& f, const Array& y, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_log_softmax_gradient, f.attributes, {}, {dy, y}, {like(*f.inputs[0])}};
     },
     "log_softmax"},
    {TBEM_PRIMITIVE_gather, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{TBEM_PRIMITIVE_gather_gradient, f.attributes, {}, {dy, f.inputs[1]}, {like(*f.inputs[0])}};
     },
     "gather"},
    {TBEM_PRIMITIVE_cross_entropy, 0,
     [](const Problem& f, const Array&, const Array& dy) {
       return Problem{
           TBEM_PRIMITIVE_cross_entropy_gradient, f.attributes, f.scalars, {dy, f.inputs[0], f.inputs[1]}, {like(*f.inputs[0])}};
     },
     "cross_entropy"},
};

class Gradient : public testing::TestWithParam<int> {};

TEST_P(Gradient, IsThatOfForward) {
  const Pair& pair = kPairs[GetParam()];
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(31000 + 100 * static_cast<std::uint64_t>(GetParam()) + seed);
    Problem forward = randomProblem(pair.forward, random);
    // Ties have no derivative; windows of padding alone give minus infinity. Both are other tests' business.
    forward.inputs[0] = random.array(forward.inputs[0]->dims);
    const Array y{forward.outputs[0].dims, evaluate(forward), false};
    Array dy = random.array(y.dims);
    bool finite = true;
    for (const double v : y.values) finite = finite && std::isfinite(v);
    if (!finite) continue;
    const Values gradient = evaluate(pair.gradient(forward, y, dy));
    const Values direction = random.array(forward.inputs[pair.input]->dims).values;
    const double expected = byDifferences(forward, pair.input, direction, dy.values), found = dot(gradient, direction);
    const double scale = std::sqrt(dot(gradient, gradient) * dot(direction, direction)) + 1e-3;
    EXPECT_NEAR(found, expected, 1e-7 * scale) << forward.text() << " seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, Gradient, testing::Range(0, static_cast<int>(std::size(kPairs))),
                         [](const auto& info) { return std::string(kPairs[info.param].name); });

/// dweight and dbias of batch normalisation, y = weight (x - mean) / sqrt(variance + eps) + bias, are linear in weight and bias:
/// <dweight, w> + <dbias, b> = <dy, y> exactly.
TEST(ChannelGradientSums, AreTheAdjointOfScaleAndShift) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(99000 + seed);
    const Problem sums = randomProblem(TBEM_PRIMITIVE_channel_gradient_sums, random);
    const Outcome outcome = runOn(*tbem_backend_ref(), sums, {TBEM_F64, 1, {}});
    ASSERT_EQ(outcome.status, TBEM_OK);
    const auto& x = *sums.inputs[1];
    const std::int64_t channels = x.dims[1];
    const Values w = random.array({channels}).values, b = random.array({channels}).values;
    std::int64_t plane = 1;
    for (std::size_t d = 2; d < x.dims.size(); ++d) plane *= x.dims[d];
    double expected = 0, norm = 1e-3;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const auto c = static_cast<std::size_t>(static_cast<std::int64_t>(i) / plane % channels);
      const double y =
          w[c] * (x.values[i] - sums.inputs[2]->values[c]) / std::sqrt(sums.inputs[3]->values[c] + sums.scalars[0]) + b[c];
      expected += sums.inputs[0]->values[i] * y;
      norm += std::fabs(sums.inputs[0]->values[i] * y);
    }
    EXPECT_NEAR(dot(outcome.outputs[0], w) + dot(outcome.outputs[1], b), expected, 1e-12 * norm) << sums.text();
  }
}

/// The sums over rows and columns are linear in what they are summed with: with y = weight * xhat + bias,
/// <dweight, w> + <dbias, b> = <dy, w * xhat + b>, and the sums of a row are those of dy * weight and dy * weight * xhat.
TEST(RowGradientSums, AreTheAdjointOfScaleAndShift) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(98000 + seed);
    const Problem sums = randomProblem(TBEM_PRIMITIVE_row_gradient_sums, random);
    const Outcome outcome = runOn(*tbem_backend_ref(), sums, {TBEM_F64, 1, {}});
    ASSERT_EQ(outcome.status, TBEM_OK);
    const auto &dy = *sums.inputs[0], &x = *sums.inputs[1];
    const auto features = static_cast<std::size_t>(x.dims.back());
    const Values w = random.array({x.dims.back()}).values, b = random.array({x.dims.back()}).values;
    const Values u = random.array({static_cast<std::int64_t>(x.values.size() / features)}).values;
    double columns = 0, plain = 0, scaled = 0, norm = 1e-3;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      const std::size_t row = i / features, f = i % features;
      const double mean = sums.inputs[4] ? sums.inputs[4]->values[row] : 0,
                   weight = sums.inputs[3] ? sums.inputs[3]->values[f] : 1;
      const double xhat = (x.values[i] - mean) / std::sqrt(sums.inputs[2]->values[row] + sums.scalars[0]);
      columns += dy.values[i] * (w[f] * xhat + b[f]);
      plain += u[row] * dy.values[i] * weight;
      scaled += u[row] * dy.values[i] * weight * xhat;
      norm += std::fabs(dy.values[i]) * (1 + std::fabs(weight)) * (1 + std::fabs(xhat)) *
              (1 + std::fabs(w[f]) + std::fabs(b[f]) + std::fabs(u[row]));
    }
    EXPECT_NEAR(dot(outcome.outputs[0], w) + dot(outcome.outputs[1], b), columns, 1e-12 * norm) << sums.text();
    EXPECT_NEAR(dot(outcome.outputs[2], u), plain, 1e-12 * norm) << sums.text();
    EXPECT_NEAR(dot(outcome.outputs[3], u), scaled, 1e-12 * norm) << sums.text();
  }
}

/// All three gradients of attention, from the results of the forward primitive.
TEST(AttentionGradient, IsThatOfForward) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(97000 + seed);
    const Problem forward = randomProblem(TBEM_PRIMITIVE_attention, random);
    const Outcome results = runOn(*tbem_backend_ref(), forward, {TBEM_F64, 1, {}});
    ASSERT_EQ(results.status, TBEM_OK) << forward.text() << ": " << results.error;
    const Array dy = random.array(forward.outputs[0].dims);
    Problem backward{TBEM_PRIMITIVE_attention_gradient, forward.attributes, {}, {dy}, {}};
    backward.inputs.insert(backward.inputs.end(), forward.inputs.begin(), forward.inputs.end());
    for (std::size_t k = 0; k < 2; ++k) backward.inputs.push_back(Array{forward.outputs[k].dims, results.outputs[k], false});
    for (const auto& input : forward.inputs) backward.outputs.push_back(like(*input));
    const Outcome gradients = runOn(*tbem_backend_ref(), backward, {TBEM_F64, 1, {}});
    ASSERT_EQ(gradients.status, TBEM_OK) << backward.text() << ": " << gradients.error;
    for (std::size_t k = 0; k < 3; ++k) {
      const Values direction = random.array(forward.inputs[k]->dims).values;
      const double expected = byDifferences(forward, k, direction, dy.values), found = dot(gradients.outputs[k], direction);
      const double scale = std::sqrt(dot(gradients.outputs[k], gradients.outputs[k]) * dot(direction, direction)) + 1e-3;
      EXPECT_NEAR(found, expected, 1e-7 * scale) << forward.text() << " input " << k << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tbem::test
