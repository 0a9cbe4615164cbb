#include "runtime/train/Evaluation.h"

#include "runtime/core/Primitive.h"

#include <gtest/gtest.h>

#include <limits>

namespace tbem::train {
namespace {

std::int64_t correct(std::vector<std::int64_t> dims, const std::vector<double>& outputs, std::size_t axis,
                     const std::vector<std::int64_t>& labels) {
  return countCorrect(runtime::HostTensor::of(TBEM_F64, std::move(dims), outputs), axis, labels);
}

TEST(CountCorrect, CountsTheLargestOutputs) {
  const std::vector<double> outputs = {1, 3, 2, /**/ 5, 4, 0, /**/ -1, -2, -0.5};
  EXPECT_EQ(correct({3, 3}, outputs, 1, {1, 0, 2}), 3);
  EXPECT_EQ(correct({3, 3}, outputs, 1, {1, 1, 1}), 1);
}

TEST(CountCorrect, OfEveryWordAndEveryPixel) {
  const std::vector<double> outputs = {1, 2, 3, 4, /**/ 5, 0, 3.5, 4, /**/ 0, 9, 0, 4.5};
  EXPECT_EQ(correct({1, 3, 4}, outputs, 1, {1, 2, 1, 2}), 4);     // classes first: columns
  EXPECT_EQ(correct({1, 3, 2, 2}, outputs, 1, {1, 2, 1, 0}), 3);  // the same of an image
  EXPECT_EQ(correct({1, 3, 4}, outputs, 2, {3, 0, 1}), 3);        // classes last: rows
  EXPECT_EQ(correct({1, 3, 4}, outputs, 2, {3, 3, 3}), 1);
}

TEST(CountCorrect, TheFirstOfEqualOnesCountsAndNanNever) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(correct({1, 2}, {2, 2}, 1, {0}), 1);
  EXPECT_EQ(correct({1, 2}, {2, 2}, 1, {1}), 0);
  EXPECT_EQ(correct({1, 2}, {nan, 1}, 1, {1}), 1);
  EXPECT_EQ(correct({1, 2}, {nan, nan}, 1, {0}), 0);
}

TEST(CountCorrect, NoClassIsNeverCorrect) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(correct({3, 2}, {2, 1, /**/ nan, nan, /**/ 0, 1}, 1, {runtime::kNoClass, runtime::kNoClass, 1}), 1);
}

TEST(Tally, IsAMeanOverWhatCounted) {
  const auto some = Tally{6, 4, 1, 5}.score(true);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->loss, 1.5);
  EXPECT_EQ(some->accuracy, 0.2);
  EXPECT_EQ((Tally{6, 4, 0, 0}.score(false)->accuracy), std::nullopt);
  EXPECT_FALSE(Tally{}.score(false));
  EXPECT_FALSE((Tally{6, 4, 0, 0}.score(true)));
}

TEST(Sizes, FullBatchesToTrainAndEveryExampleToEvaluate) {
  data::Description about;
  about.train = 1000;
  about.test = 250;
  Plan plan;
  plan.batch = 64;
  plan.epochs = 3;
  plan.validate = 0.1;
  const Sizes sizes = sizesOf(plan, about);
  EXPECT_EQ(sizes.validation, 100);
  EXPECT_EQ(sizes.train, 900);
  EXPECT_EQ(sizes.stepsPerEpoch, 14);
  EXPECT_EQ(sizes.total, 42);
  EXPECT_EQ(sizes.evaluationBatches, (std::vector<std::int64_t>{36, 58, 64}));
}

TEST(Sizes, StepsBoundAndCountCuts) {
  data::Description about;
  about.train = 1000;
  Plan plan;
  plan.batch = 10;
  plan.steps = 7;
  plan.count = 50;
  const Sizes sizes = sizesOf(plan, about);
  EXPECT_EQ(sizes.train, 50);
  EXPECT_EQ(sizes.stepsPerEpoch, 5);
  EXPECT_EQ(sizes.total, 7);
  EXPECT_TRUE(sizes.evaluationBatches.empty());
}

}  // namespace
}  // namespace tbem::train
