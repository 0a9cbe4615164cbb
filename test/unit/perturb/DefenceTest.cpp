// Detectors and squeezers: the plane that separates rows, areas under curves, and what squeezing makes of numbers, by hand.
#include "runtime/perturb/defence/Defence.h"
#include "runtime/perturb/defence/LinearMachine.h"
#include "runtime/train/Order.h"
#include "test/unit/perturb/Toy.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace tbem::perturb {
namespace {

using namespace toy;

// ---- Separation -------------------------------------------------------------------------------------------------------

/// Rows of two clouds that overlap; the last number is always the same.
struct Clouds {
  std::vector<std::array<float, 4>> numbers;
  std::vector<LabelledRow> rows;

  explicit Clouds(bool firstLabel) {
    std::mt19937 random(7);  // NOLINT: the same clouds each time
    std::normal_distribution<float> normal;
    constexpr int kRows = 60;
    for (int i = 0; i < kRows; ++i) {
      const bool label = (i % 2 == 0) == firstLabel;
      const float shift = label ? 0.7F : -0.7F;
      numbers.push_back({shift + normal(random), 100 * normal(random), 3 + 0.01F * (shift + normal(random)), 5});
    }
    for (int i = 0; i < kRows; ++i) rows.push_back({numbers[static_cast<std::size_t>(i)], (i % 2 == 0) == firstLabel});
  }
};

/// Means of the three numbers that vary, and what their differences are divided by.
struct Scales {
  std::array<double, 3> mean{}, unit{};

  explicit Scales(const Clouds& clouds) {
    const double count = static_cast<double>(clouds.rows.size());
    for (const auto& row : clouds.numbers)
      for (std::size_t j = 0; j < 3; ++j) mean[j] += row[j] / count;
    for (const auto& row : clouds.numbers)
      for (std::size_t j = 0; j < 3; ++j) unit[j] += (row[j] - mean[j]) * (row[j] - mean[j]) / count;
    for (double& each : unit) each = std::sqrt(3 * each);
  }
};

/// Of |w|^2 / 2 + cost * sum of max(0, 1 - y (w x + b))^2 over numbers of mean 0 and variance 1 / 3, by w and by b.
std::vector<double> gradientAt(const std::vector<double>& w, const Clouds& clouds, double cost) {
  const Scales scales(clouds);
  std::vector<double> gradient = w;
  for (const LabelledRow& row : clouds.rows) {
    std::array<double, 4> x{0, 0, 0, 1};
    double score = w[3];
    for (std::size_t j = 0; j < 3; ++j) {
      x[j] = (row.numbers[j] - scales.mean[j]) / scales.unit[j];
      score += w[j] * x[j];
    }
    const double y = row.label ? 1 : -1, slack = std::max(0.0, 1 - y * score);
    for (std::size_t j = 0; j < 4; ++j) gradient[j] -= 2 * cost * slack * y * x[j];
  }
  return gradient;
}

double lengthOf(const std::vector<double>& vector) {
  double squares = 0;
  for (const double number : vector) squares += number * number;
  return std::sqrt(squares);
}

TEST(LinearMachine, StandsWhereTheObjectiveIsLeast) {
  for (const bool firstLabel : {true, false}) {
    const Clouds clouds(firstLabel);
    const auto machine = separate(clouds.rows, 0.3).value();
    ASSERT_EQ(machine.weights.size(), 4U);
    EXPECT_EQ(machine.weights[3], 0) << "a number that is always the same says nothing";
    const Scales scales(clouds);
    std::vector<double> w;
    double offset = machine.offset;
    for (std::size_t j = 0; j < 3; ++j) {
      w.push_back(machine.weights[j] * scales.unit[j]);
      offset += machine.weights[j] * scales.mean[j];
    }
    w.push_back(offset);
    EXPECT_LT(lengthOf(gradientAt(w, clouds, 0.3)), 1e-3 * lengthOf(gradientAt({0, 0, 0, 0}, clouds, 0.3)));
    EXPECT_GT(w[0], 0.1) << "rows of class true have larger numbers there";
    EXPECT_NEAR(machine.score(clouds.rows[1].numbers),
                machine.weights[0] * clouds.numbers[1][0] + machine.weights[1] * clouds.numbers[1][1] +
                    machine.weights[2] * clouds.numbers[1][2] + machine.offset,
                1e-9);
  }
}

// ---- Detection --------------------------------------------------------------------------------------------------------

/// The series of a method that moves example e by `by[e]`.
Series movedBy(const std::string& method, const std::vector<float>& examples, const std::vector<float>& by) {
  Series series;
  series.text = method;
  for (std::size_t e = 0; e < examples.size(); ++e) {
    Point& point = series.points.emplace_back();
    point.example = static_cast<std::int64_t>(e);
    point.linf = std::abs(by[e]);
    series.inputs.insert(series.inputs.end(), kElements, examples[e] + by[e]);
  }
  return series;
}

/// The toy's outputs rise and fall with an example's numbers, so the score of a detector that learned larger ones does too.
double areaByHand(const std::vector<float>& examples, const Series& series, const std::vector<std::int64_t>& foldOf,
                  std::int64_t folds) {
  double sum = 0;
  for (std::int64_t fold = 0; fold < folds; ++fold) {
    double higher = 0, pairs = 0;
    for (std::size_t p = 0; p < examples.size(); ++p) {
      for (std::size_t e = 0; e < examples.size(); ++e) {
        if (foldOf[p] != fold || foldOf[e] != fold || series.points[p].linf == 0 || series.points[e].linf == 0) continue;
        const float point = series.inputs[p * kElements];
        higher += point > examples[e] ? 1 : point == examples[e] ? 0.5 : 0;
        ++pairs;
      }
    }
    sum += higher / pairs;
  }
  return sum / static_cast<double>(folds);
}

TEST(Detect, CountsPairsOfHeldOutExamples) {
  const World world;
  const std::vector<float> examples = {0.25F, 0.375F, 0.5F, 0.625F, 0.125F, 0.75F, 0.3125F, 0.4375F, 0.5625F, 0.6875F};
  const Data data(examples);
  Plan plan = world.plan(10);
  plan.keepInputs = true;
  const std::vector<Series> series = {movedBy("far", examples, std::vector<float>(10, 0.125F)),
                                      movedBy("back", examples, std::vector<float>(10, -0.0625F)),
                                      movedBy("never", examples, std::vector<float>(10, 0))};
  const DetectorPlan detector{10, 2, 1};
  std::vector<std::string> steps;
  const auto detection = detect({plan, data, world.victim, series}, detector, {&world.single, "first"},
                                [&](std::int64_t, std::int64_t, const std::string& what) {
                                  steps.push_back(what);
                                  return true;
                                })
                             .value()
                             .value();
  EXPECT_EQ(detection.layer, "first");
  EXPECT_EQ(detection.numbers, 2);
  EXPECT_EQ(detection.flops(), 4);
  EXPECT_EQ(steps.front(), "detect, example 1 of 10");
  EXPECT_EQ(steps.back(), "detect never, fold 2 of 2");
  std::vector<std::int64_t> foldOf(10);
  const std::vector<std::int64_t> order = train::shuffled(plan.seed, 0, 10);
  for (std::size_t place = 0; place < 10; ++place)
    foldOf[static_cast<std::size_t>(order[place])] = static_cast<std::int64_t>(place) % 2;
  const std::vector<Detected>& methods = detection.ofMethods;
  ASSERT_EQ(methods.size(), 3U);
  const double far = areaByHand(examples, series[0], foldOf, 2), back = areaByHand(examples, series[1], foldOf, 2);
  EXPECT_EQ(methods[0].pairs, 10);
  EXPECT_NEAR(*methods[0].area, far, 1e-12);
  EXPECT_NEAR(*methods[1].area, 1 - back, 1e-12) << "a detector of smaller numbers";
  EXPECT_NEAR(*methods[0].areaByLearned[1], 1 - far, 1e-12);
  EXPECT_NEAR(*methods[1].areaByLearned[0], back, 1e-12);
  EXPECT_EQ(methods[2].pairs, 0);
  EXPECT_FALSE(methods[2].area || methods[2].deviation || methods[2].areaByLearned[0] || methods[0].areaByLearned[2]);
}

TEST(Detect, SaysWhatItTakes) {
  const World world;
  // Two numbers of 10 examples and of their points by three methods, and of one method's once more as liblinear has them.
  EXPECT_EQ(detectionBytes({10, 2, 1}, {&world.single, ""}, 3), 10 * 4 * 2 * 4 + 2 * 10 * 2 * 16);
}

TEST(Detect, SaysWhatIsNotThere) {
  const World world;
  const std::vector<float> examples(8, 0.5F);
  const Data data(examples);
  std::vector<Series> series = {movedBy("far", examples, std::vector<float>(8, 0.1F))};
  series.front().inputs.pop_back();
  const auto none = detect({world.plan(8), data, world.victim, series}, {8, 2, 1}, {&world.single, "first"}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "far: the numbers of point 0 are not there");
  const auto ended = detect({world.plan(8), data, world.victim, series}, {8, 2, 1}, {&world.single, "first"},
                            [](std::int64_t, std::int64_t, const std::string&) { return false; });
  EXPECT_FALSE(ended.value()) << "it was asked to end before anything was read";
}

// ---- Squeezing --------------------------------------------------------------------------------------------------------

std::vector<float> squeezed(Squeezer::Kind kind, std::int64_t size, std::vector<float> numbers, double low = 0,
                            const std::vector<std::int64_t>& shape = {}) {
  Plan plan;
  plan.low = low;
  squeeze({kind, size, ""}, plan, shape, numbers);
  return numbers;
}

TEST(Squeeze, RoundsToLevelsInTheBox) {
  using Kind = Squeezer::Kind;
  EXPECT_EQ(squeezed(Kind::Bits, 1, {0, 0.49F, 0.5F, 0.51F, 1}), (std::vector<float>{0, 0, 0, 1, 1}));
  EXPECT_EQ(squeezed(Kind::Bits, 2, {-1, -0.7F, -0.5F, 0.1F, 0.9F}, -1),
            (std::vector<float>{-1, -1, static_cast<float>(-1.0 / 3), static_cast<float>(1.0 / 3), 1}));
}

TEST(Squeeze, TakesMediansOfEachChannel) {
  using Kind = Squeezer::Kind;
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 0, 9, 9, 9, 9};
  EXPECT_EQ(squeezed(Kind::Median, 3, numbers, 0, {2, 3, 3}),
            (std::vector<float>{2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
  // Two by two: what is above and to the left, mirrored at the edge, and of four numbers the second largest.
  EXPECT_EQ(squeezed(Kind::Median, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 0, {1, 3, 3}),
            (std::vector<float>{1, 2, 3, 4, 4, 5, 7, 7, 8}));
  // A window that is wider than the image goes on in it: 1 2 of mirrored lines.
  EXPECT_EQ(squeezed(Kind::Median, 3, {1, 2}, 0, {1, 1, 2}), (std::vector<float>{1, 2}));
}

TEST(Squeeze, SaysWhatSqueezedInputsCost) {
  const World world;
  const std::vector<float> examples = {0.1F, 0.3F, 0.9F};  // leaves, skips, runs; labels 0, 1, 0
  const Data data(examples);
  const std::vector<Series> series = {movedBy("far", examples, {0.2F, 0.2F, 0})};
  const std::vector<Squeezer> squeezers = {{Squeezer::Kind::Bits, 1, "bits(1)"}, {Squeezer::Kind::Bits, 16, "bits(16)"}};
  const auto all = squeezeAll({world.plan(3), data, world.victim, series}, squeezers, {}).value().value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].squeezer, "bits(1)");
  EXPECT_EQ(all[0].method, "far");
  // One bit: 0, 0, 1 of the examples; the points 0.3, 0.5, 0.9 become 0, 0 or 1 as f32 has it, 1.
  EXPECT_EQ(all[0].summary.flopsBefore, (kLeaves + kLeaves + kRuns) / 3);
  EXPECT_EQ(*all[0].summary.accuracyBefore, 1.0 / 3);
  EXPECT_EQ(all[1].summary.flopsBefore, (kLeaves + kSkips + kRuns) / 3);
  EXPECT_EQ(all[1].summary.flops, (kSkips + kRuns + kRuns) / 3);
  EXPECT_NEAR(all[1].summary.meanIncrease, ((kSkips - kLeaves) / kLeaves + (kRuns - kSkips) / kSkips) / 3, 1e-12);
}

}  // namespace
}  // namespace tbem::perturb
