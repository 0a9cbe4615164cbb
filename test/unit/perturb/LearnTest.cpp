// Methods that learn: which examples they see, what they learn, and what they may not do.
#include "test/unit/TemporaryFolder.h"
#include "test/unit/perturb/Toy.h"

#include "runtime/perturb/PointText.h"
#include "runtime/train/Order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tbem::perturb {
namespace {

using namespace toy;

const std::vector<float> kTest = {0.1F, 0.3F, 0.2F, 0.45F, 0.4F};
/// Eleven, of which a training takes the first ten: two batches, and two examples left out of each epoch.
const std::vector<float> kTrain = {0.5F, 0.1F, 0.4F, 0.3F, 0.6F, 0.2F, 0.7F, 0.15F, 0.35F, 0.45F, 0.99F};
constexpr std::int64_t kCount = 10, kEpochs = 3;

class Learns : public test::TemporaryFolder {
protected:
  tl::expected<Outcome, Failure> search(const std::vector<Method>& methods, const Keeping& keeping = {},
                                        const Observer& observer = {}) {
    return run(world.plan(5), Data(kTest, kTrain), world.victim, methods, keeping, observer);
  }

  World world;
};

/// What the learner's weight becomes, by its rule over the epochs' orders.
double weightAfter(std::int64_t epochs) {
  double g = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto order = train::shuffled(3, static_cast<std::uint32_t>(epoch), kCount);
    for (std::size_t b = 0; b < kCount / kBatch; ++b) {
      double gradient = 0;
      for (std::size_t i = 0; i < kBatch; ++i)
        gradient += 2 * (static_cast<double>(kTrain[static_cast<std::size_t>(order[b * kBatch + i])]) + g - 0.6) / kBatch;
      g -= 0.1 * gradient;
    }
  }
  return g;
}

TEST_F(Learns, AsATrainingDoesAndThenMoves) {
  std::vector<std::string> told;
  Observer observer;
  observer.progress = [&](std::int64_t, std::int64_t, const std::string& what) { told.push_back(what); };
  const auto outcome = search({world.learned(kEpochs, kCount)}, {}, observer);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(log().learner.size(), 2U * kEpochs);
  for (std::size_t step = 0; step < log().learner.size(); ++step) {
    const auto order = train::shuffled(3, static_cast<std::uint32_t>(step / 2), kCount);
    for (std::size_t i = 0; i < kBatch; ++i) {
      const auto example = static_cast<std::size_t>(order[step % 2 * kBatch + i]);
      EXPECT_EQ(log().learner[step][i * kElements], kTrain[example]) << step;
    }
  }
  // The loss is a mean over other examples in each step: of an epoch's it falls.
  const std::vector<double>& losses = log().losses;
  EXPECT_LT(losses[4] + losses[5], losses[0] + losses[1]);
  const Series& series = outcome->series.front();
  EXPECT_GT(series.learning, 0);
  for (const Point& point : series.points) EXPECT_NEAR(point.linf, weightAfter(kEpochs), 1e-6);
  EXPECT_EQ(series.points[2].flopsBefore, kLeaves);  // the network has its own weights in spite of all that was initialised
  EXPECT_EQ(series.points[2].flops, kSkips);
  EXPECT_NE(std::ranges::find_if(told, [](const std::string& what) { return what.starts_with("toy(6), epoch 3 of 3, loss 0."); }),
            told.end());
}

TEST_F(Learns, AnewForEachMethod) {
  Method longer = world.learned(kEpochs, kCount);
  longer.identity = longer.text = "longer";
  const auto outcome = search({world.learned(1, kCount), longer, world.method(Move::Wave)});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_NEAR(outcome->series[0].points[0].linf, weightAfter(1), 1e-6);
  EXPECT_NEAR(outcome->series[1].points[0].linf, weightAfter(kEpochs), 1e-6);
  EXPECT_EQ(outcome->series[2].points[0].flopsBefore, kLeaves);
  EXPECT_EQ(outcome->series[2].points[3].flops, kRuns);
  EXPECT_EQ(outcome->series[2].learning, 0);
}

TEST_F(Learns, NothingWhereAllPointsAreStored) {
  const Keeping keeping{folder + "/points.tbemdb"};
  ASSERT_TRUE(search({world.learned(kEpochs, kCount)}, keeping));
  log() = {};
  const auto again = search({world.learned(kEpochs, kCount)}, keeping);
  ASSERT_TRUE(again);
  EXPECT_TRUE(log().learner.empty());
  EXPECT_EQ(again->series.front().learning, 0);
  EXPECT_EQ(again->series.front().stored, 5);
}

TEST_F(Learns, TheSameAfterAStop) {
  const auto whole = search({world.learned(kEpochs, kCount)});
  ASSERT_TRUE(whole);
  for (const std::int64_t at : {1, 4, 2 * static_cast<int>(kEpochs) + 2}) {  // while it learns; before the second batch
    const Keeping keeping{folder + "/" + std::to_string(at) + ".tbemdb"};
    Observer observer;
    observer.stop = [left = at]() mutable { return --left == 0; };
    const auto stopped = search({world.learned(kEpochs, kCount)}, keeping, observer);
    ASSERT_TRUE(stopped);
    EXPECT_TRUE(stopped->interrupted);
    EXPECT_EQ(stopped->series.size(), at > 6 ? 1U : 0U);
    const auto resumed = search({world.learned(kEpochs, kCount)}, keeping);
    ASSERT_TRUE(resumed);
    const std::vector<Point>&got = resumed->series.front().points, &expected = whole->series.front().points;
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t e = 0; e < got.size(); ++e) EXPECT_EQ(textOf(got[e]), textOf(expected[e]));
  }
}

void expectFailure(const tl::expected<Outcome, Failure>& outcome, Failure::Kind kind, const std::vector<std::string>& words) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, kind);
  for (const std::string& word : words)
    EXPECT_NE(outcome.error().message.find(word), std::string::npos) << outcome.error().message;
}

TEST_F(Learns, ALossThatIsNotFiniteEndsIt) {
  log().nanAt = 5;
  expectFailure(search({world.learned(kEpochs, kCount)}), Failure::Kind::Run, {"toy(6)", "step 5 (epoch 3)", "inf", "rate"});
}

TEST_F(Learns, FromABatchAtLeast) {
  expectFailure(search({world.learned(kEpochs, 3)}), Failure::Kind::Environment, {"toy(6)", "3 examples", "batch of 4"});
  ASSERT_TRUE(search({world.learned(kEpochs, kBatch)}));
  EXPECT_EQ(std::ssize(log().learner), kEpochs);
}

TEST_F(Learns, WithoutChangingTheNetwork) {
  log().changesVictim = true;
  expectFailure(search({world.learned(kEpochs, kCount)}), Failure::Kind::Run, {"toy(6)", "changed `net.w`"});
}

}  // namespace
}  // namespace tbem::perturb
