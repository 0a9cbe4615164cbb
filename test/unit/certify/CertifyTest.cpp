// Bounds against closed forms: of a dense layer, of layers that undo one another, of a softmax of two; and what is refused.
#include "test/unit/certify/Fixture.h"

#include "compiler/count/Flops.h"

#include <cmath>

namespace tbem::test {
namespace {

using certify::Ball;
using certify::Bound;
using certify::Limits;
using certify::Method;
using certify::Norm;

/// A network that leaves early where its score, one number, is at least 0; `score` makes it of x.
std::string scored(const std::string& score, int features) {
  return "network net(x: tensor[b, n]) -> tensor[b, 2] {\n  let g = " + score +
         " |> reshape([b])\n  let z = x |> dense(2)\n  exit z when g >= 0\n  return z |> relu |> dense(2)\n}\ndesign d of net { "
         "input x: [1, " +
         std::to_string(features) + "] }\n";
}

/// Weights in the network's order, `first` and then numbers that do not matter.
Arrays arraysOf(const std::string& text, const std::vector<std::vector<double>>& first) {
  Built built(text);
  const std::optional<graph::Row> row = built.row();
  EXPECT_TRUE(row) << built.errors();
  Arrays arrays;
  for (std::size_t i = 0; row && i < row->graph().weights.size(); ++i) {
    const graph::TensorId weight = row->graph().weights[i].value;
    std::int64_t count = 1;
    for (const std::int64_t dim : row->shape(weight)) count *= dim;
    const std::vector<double> rest(static_cast<std::size_t>(count), 0.5);
    arrays[row->graph()[row->graph()[weight].storage].path] = i < first.size() ? first[i] : rest;
  }
  return arrays;
}

Bound boundOf(const std::string& text, const Arrays& arrays, std::vector<float> example, Ball ball,
              Method method = Method::Linear) {
  const auto network = certified(text, arrays);
  EXPECT_TRUE(network) << (network ? "" : network.error());
  return network ? certify::bound(*network, example, ball, Limits{.method = method}) : Bound{};
}

/// Contains the interval, and is wider by no more than `wider` on each side.
void expectEnds(const std::optional<Bound::Score>& score, double low, double high, double wider) {
  ASSERT_TRUE(score);
  EXPECT_LE(score->low, low);
  EXPECT_GE(score->low, low - wider);
  EXPECT_GE(score->high, high);
  EXPECT_LE(score->high, high + wider);
}

/// 2 x0 - 3 x1 + 1 around (0.5, 0.25).
TEST(Certify, ADenseLayerHasItsExactInterval) {
  const std::string text = scored("x |> dense(1)", 2);
  const Arrays arrays = arraysOf(text, {{2, -3}, {1}});
  for (const Method method : {Method::Interval, Method::Linear}) {
    const Bound bound = boundOf(text, arrays, {0.5F, 0.25F}, {Norm::Linf, 0.125, -10, 10}, method);
    expectEnds(bound.scores[0], 1.25 - 5 * 0.125, 1.25 + 5 * 0.125, 1e-5);
    EXPECT_EQ(bound.decided, std::vector<std::int8_t>{1});
  }
  expectEnds(boundOf(text, arrays, {0.5F, 0.25F}, {Norm::Linf, 0.5, 0, 1}).scores[0], 1 + 2 * 0.0 - 3 * 0.75,
             1 + 2 * 1.0 - 3 * 0.0, 1e-5);
}

/// The distance that a linear form moves in an L2 ball is the radius times the length of its coefficients.
TEST(Certify, AnL2BallHasItsOwnBound) {
  const std::string text = scored("x |> dense(1)", 2);
  const Arrays arrays = arraysOf(text, {{2, -3}, {1}});
  const auto network = certified(text, arrays);
  ASSERT_TRUE(network);
  // 1.25 - r sqrt(13) is 0 at r = 0.34669.
  const std::vector<float> example{0.5F, 0.25F};
  EXPECT_EQ(certify::bound(*network, example, {Norm::L2, 0.3466, -10, 10}).decided[0], 1);
  EXPECT_EQ(certify::bound(*network, example, {Norm::L2, 0.3468, -10, 10}).decided[0], -1);
  EXPECT_EQ(certify::bound(*network, example, {Norm::L2, 0.3466, -10, 10}, {Method::Interval}).decided[0], -1);
}

/// Two units of the same input, one taken off the other: 0 whatever comes in, which intervals do not see.
TEST(Certify, LinearFormsSeeWhatBelongsTogether) {
  const std::string text = scored("x |> dense(2) |> relu |> dense(1)", 1);
  const Arrays arrays = arraysOf(text, {{1, 1}, {0, 0}, {1, -1}, {0.25}});
  expectEnds(boundOf(text, arrays, {5}, {Norm::Linf, 1, -10, 10}, Method::Interval).scores[0], 0.25 - 2, 0.25 + 2, 1e-4);
  EXPECT_EQ(boundOf(text, arrays, {5}, {Norm::Linf, 1, -10, 10}, Method::Interval).decided[0], -1);
  EXPECT_EQ(boundOf(text, arrays, {5}, {Norm::Linf, 1, -10, 10}).decided[0], 1);
}

/// A network of two layers against all of a fine grid: nothing of it lies outside, and the bounds are no more than half as wide
/// again.
TEST(Certify, TwoLayersAgainstAGrid) {
  const std::vector<double> first{1, 0.5, -0.75, 1.25, 0.5, -1}, shift{0.125, -0.25, 0}, second{1, -0.5, 0.75};
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = -100; i <= 100; ++i) {
    for (int j = -100; j <= 100; ++j) {
      const double x = 0.25 + 0.004 * i, y = 0.1 + 0.004 * j;
      double score = -0.25;
      for (std::size_t k = 0; k < 3; ++k) score += second[k] * std::fmax(first[2 * k] * x + first[2 * k + 1] * y + shift[k], 0.0);
      low = std::fmin(low, score);
      high = std::fmax(high, score);
    }
  }
  const std::string text = scored("x |> dense(3) |> relu |> dense(1)", 2);
  const Arrays arrays = arraysOf(text, {first, shift, second, {-0.25}});
  for (const Method method : {Method::Interval, Method::Linear})
    expectEnds(boundOf(text, arrays, {0.25F, 0.1F}, {Norm::Linf, 0.4, -10, 10}, method).scores[0], low, high,
               0.5 * (high - low) + 0.3);
}

/// 0.1 is no number of f32, nor are its products: the bounds hold what f32 gives in either order, and what real numbers give.
TEST(Certify, RoundingGoesOutward) {
  const float tenth = 0.1F;
  const std::string text = scored("x |> dense(1)", 3);
  const Arrays arrays = arraysOf(text, {{0.1, 0.3, -0.7}, {0.1}});
  const Bound bound = boundOf(text, arrays, {tenth, tenth, tenth}, {Norm::Linf, 0, 0, 1});
  const float forwards = ((0.1F * tenth + 0.3F * tenth) + -0.7F * tenth) + 0.1F;
  const float backwards = 0.1F * tenth + (0.3F * tenth + (-0.7F * tenth + 0.1F));
  const auto exact = [&](float weight) { return static_cast<double>(weight) * static_cast<double>(tenth); };
  const double real = exact(0.1F) + exact(0.3F) + exact(-0.7F) + static_cast<double>(0.1F);
  for (const double value : {static_cast<double>(forwards), static_cast<double>(backwards), real}) {
    EXPECT_LT(bound.scores[0]->low, value);
    EXPECT_GT(bound.scores[0]->high, value);
  }
  EXPECT_LT(bound.scores[0]->high - bound.scores[0]->low, 1e-6);
}

/// The larger of two probabilities is 1 / (1 + e^-|d|) for logits d apart.
TEST(Certify, AConfidenceIsThatOfTheLogitsDifference) {
  const std::string text = R"(
network net(x: tensor[b, 1]) -> tensor[b, 2] {
  let z = x |> dense(2)
  exit z when z |> softmax(axis: 1) |> max(axis: 1) >= 0.9
  return z |> relu |> dense(2)
}
design d of net { input x: [1, 1] }
)";
  const Arrays arrays = arraysOf(text, {{1, 3}, {0, 0}, {1, 1, 1, 1}, {0, 0}});
  const auto sure = [](double d) { return 1 / (1 + std::exp(-std::fabs(d))); };
  expectEnds(boundOf(text, arrays, {1}, {Norm::Linf, 0.25, -10, 10}).scores[0], sure(1.5), sure(2.5), 0.01);
  EXPECT_EQ(boundOf(text, arrays, {1.5F}, {Norm::Linf, 0.25, -10, 10}).decided[0], 1);  // from d = 2.5
  EXPECT_EQ(boundOf(text, arrays, {0.5F}, {Norm::Linf, 0.25, -10, 10}).decided[0], 0);  // to d = 1.5
  EXPECT_EQ(boundOf(text, arrays, {1}, {Norm::Linf, 0.25, -10, 10}).decided[0], -1);    // 2.197 is between
}

/// A sample that leaves costs what comes before; where it is not known whether it does, the most and the least of both ways.
TEST(Certify, FlopsAreThoseOfTheDearestWay) {
  const std::string text = scored("x |> dense(1)", 2);
  const Arrays arrays = arraysOf(text, {{1, 0}, {0}});
  Built program(text);
  const std::optional<graph::Row> row = program.row();
  ASSERT_TRUE(row);
  const auto flops = estimate::countFlops(row->graph(), row->values);
  const double most = estimate::toDouble(flops->most.step()), least = estimate::toDouble(flops->least.step());
  ASSERT_LT(least, most);
  const auto expect = [&](float x, double low, double high) {
    const Bound bound = boundOf(text, arrays, {x, 0}, {Norm::Linf, 0.1, -10, 10});
    EXPECT_EQ(bound.least, low) << x;
    EXPECT_EQ(bound.flops, high) << x;
  };
  expect(1, least, least);
  expect(-1, most, most);
  expect(0.05F, least, most);
}

// ---- What is not certified -------------------------------------------------------------------------------------------

/// What a place costs within the arm of a gate about places counts for those alone that come there.
TEST(Certify, CountsEachPlaceByItself) {
  // Three places of one number each: the outer arm is computed where it is below 0, the inner one where it is at least -1.
  const std::string text = R"(
block inner(rows: tensor[m, 1], s: tensor[m]) -> tensor[m, 1] {
  let k = skip (rows |> dense(8) |> dense(1)) when s < 0 - 1 leaving rows
  return k
}
network net(x: tensor[b, 3]) -> tensor[b, 3] {
  let rows = x |> reshape([b * 3, 1])
  let s = x |> reshape([b * 3])
  let k = skip inner(rows, s) when s >= 0 leaving rows
  return k |> reshape([b, 3])
}
design d of net { input x: [1, 3] }
)";
  const auto costs = [&](std::vector<float> example, double radius) {
    const Bound bound = boundOf(text, arraysOf(text, {}), std::move(example), {Norm::Linf, radius, -9, 9});
    return std::pair(bound.flops, bound.least);
  };
  using Cost = std::pair<double, double>;
  // A comparison for each place that comes to a gate; two dense layers of 8 multiply-adds each, with their biases.
  constexpr double kArm = 2 * (8 + 8) + 8 + 1;
  EXPECT_EQ(costs({1, 2, -5}, 0), Cost(3 + 1, 3 + 1));
  EXPECT_EQ(costs({-0.5F, -0.4F, -0.3F}, 0), Cost(3 + 3 * (1 + kArm), 3 + 3 * (1 + kArm)));
  EXPECT_EQ(costs({1, -0.5F, -5}, 0), Cost(3 + 2 + kArm, 3 + 2 + kArm)) << "the place within both arms alone";
  EXPECT_EQ(costs({1, -1, -5}, 0.1), Cost(3 + 2 + kArm, 3 + 2)) << "the inner gate is open at one place";
  EXPECT_EQ(costs({0, -1, -5}, 0.1), Cost(3 + 3 + 2 * kArm, 3 + 2)) << "and the outer one at another";
  const Bound bound = boundOf(text, arraysOf(text, {}), {1, -1, -5}, {Norm::Linf, 0.1, -9, 9});
  EXPECT_EQ(bound.rows, (std::vector<std::vector<std::int8_t>>{{1, 0, 0}, {-2, -1, 1}}));
}

/// A convolution over several images of one sample has no bounds.
TEST(Certify, KnowsNothingOfSeveralImages) {
  const std::string text = R"(
network net(x: tensor[b, 8]) -> tensor[b, 2] {
  let y = x |> reshape([b * 2, 1, 2, 2]) |> conv2d(out: 1, kernel: 1) |> reshape([b, 8])
  let z = y |> dense(2)
  exit z when y |> max(axis: 1) >= 0.5
  return z |> relu |> dense(2)
}
design d of net { input x: [1, 8] }
)";
  const Bound bound = boundOf(text, arraysOf(text, {}), std::vector<float>(8, 1), {Norm::Linf, 0, -10, 10});
  EXPECT_EQ(bound.decided, std::vector<std::int8_t>{-1});
  EXPECT_EQ(bound.unsupported, std::vector<std::string>{"conv2d"});
}

TEST(Certify, SaysWhatItDoesNotKnow) {
  const Bound bound = boundOf(R"(
network net(x: tensor[b, 2]) -> tensor[b, 2] {
  let y = x |> layer_norm
  exit y when y |> max(axis: 1) >= 0.5
  return y |> relu
}
design d of net { input x: [1, 2] }
)",
                              {{"layer_norm.weight", {1, 1}}, {"layer_norm.bias", {0, 0}}}, {1, 2}, {Norm::Linf, 0, -10, 10});
  EXPECT_EQ(bound.decided, std::vector<std::int8_t>{-1});
  EXPECT_EQ(bound.unsupported, std::vector<std::string>{"channel_moments"});
}

std::string refusal(const std::string& text, const Arrays& arrays = {}, tbem_dtype dtype = TBEM_F32) {
  const auto network = certified(text, arrays, dtype);
  return network ? "" : network.error();
}

TEST(Certify, Refuses) {
  const std::string text = scored("x |> dense(1)", 2);
  EXPECT_EQ(refusal(text, {}), "there are no values for `dense.weight`");
  Arrays arrays = arraysOf(text, {{1, 0}, {0}});
  EXPECT_EQ(refusal(text, arrays), "");
  EXPECT_EQ(refusal(text, arrays, TBEM_F64), "");
  EXPECT_EQ(refusal(text, arrays, TBEM_BF16), "costs are certified of networks that compute in f32 or in f64");
  arrays["dense.bias"] = {0, 0};
  EXPECT_EQ(refusal(text, arrays), "`dense.bias` has 1 elements, and 2 values are there");
  EXPECT_EQ(refusal("network n(x: tensor[b, 2]) -> tensor[b, 2] { return relu(x) }\ndesign d of n { input x: [1, 2] }\n"),
            "the network has no gates: all inputs cost the same");
  std::string batch = text;
  batch.replace(batch.find("[1, 2]"), 6, "[3, 2]");
  EXPECT_EQ(refusal(batch), "costs are certified of one sample, and the batch of `x` is another");
  EXPECT_EQ(refusal(R"(
network n(x: tensor[b, 2], flag: tensor[b]) -> tensor[b, 2] { exit x when flag > 0
  return relu(x) }
design d of n { input x: [1, 2]
  input flag: [1] }
)"),
            "costs are certified of networks with one input");
}

}  // namespace
}  // namespace tbem::test
