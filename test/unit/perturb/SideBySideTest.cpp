// Batches that are searched at once: they find what one after the other would, and none disturbs another.
#include "test/unit/TemporaryFolder.h"
#include "test/unit/perturb/Toy.h"

#include "runtime/perturb/PointText.h"
#include "runtime/store/Store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tbem::perturb {
namespace {

using namespace toy;

const std::vector<float> kTest = {0.1F, 0.2F, 0.24F, 0.4F, 0.45F, 0.3F, 0.05F, 0.44F, 0.6F, 0.22F};
const std::vector<float> kTrain = {0.5F, 0.1F, 0.4F, 0.3F, 0.6F, 0.2F, 0.7F, 0.15F};

class SideBySide : public test::TemporaryFolder {
protected:
  tl::expected<Outcome, Failure> search(std::int64_t lanes, const std::vector<Method>& methods, const Keeping& keeping = {},
                                        const Observer& observer = {}) {
    Plan plan = world.plan(std::ssize(kTest));
    plan.sideBySide = lanes;
    return run(plan, Data(kTest, kTrain), world.victim, methods, keeping, observer);
  }
  /// Of all methods, one after the other.
  static std::vector<std::string> textsOf(const Outcome& outcome) {
    std::vector<std::string> texts;
    for (const Series& series : outcome.series) {
      for (const Point& point : series.points) texts.push_back(textOf(point));
    }
    return texts;
  }
  std::vector<std::int64_t> storedBy(const Method& method) const {
    auto store = store::Store::open(folder + "/points.tbemdb", store::Mode::ReadOnly);
    const auto points = store->points(method.identity, store::Inputs::Leave);
    std::vector<std::int64_t> examples;
    for (const store::StoredPoint& point : *points) examples.push_back(point.example);
    return examples;
  }
  Keeping keeping() const { return {folder + "/points.tbemdb"}; }

  World world;
};

TEST_F(SideBySide, FindsWhatOneAfterTheOtherDoes) {
  const std::vector<Method> methods = {world.method(Move::Random, 3), world.method(Move::Wave, 4, 2), world.learned(2, 8)};
  const auto alone = search(1, methods);
  ASSERT_TRUE(alone) << alone.error().message;
  ASSERT_EQ(textsOf(*alone).size(), 3 * kTest.size());
  for (const std::int64_t lanes : {2, 3, 8}) {
    const auto together = search(lanes, methods);
    ASSERT_TRUE(together) << together.error().message;
    EXPECT_EQ(textsOf(*together), textsOf(*alone)) << lanes;
    for (const Series& series : together->series) EXPECT_EQ(series.sideBySide, std::min<std::int64_t>(lanes, 3));  // batches
  }
}

TEST_F(SideBySide, BatchesRunAtOnce) {
  std::mutex mutex;
  std::condition_variable came;
  int inside = 0;
  std::atomic<int> met = 0;
  log().moves = [&](std::uint64_t) {
    std::unique_lock lock(mutex);
    ++inside;
    came.notify_all();
    if (came.wait_for(lock, std::chrono::seconds(20), [&] { return inside >= 2; })) ++met;
  };
  const auto outcome = search(2, {world.method(Move::Rise)});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(met, 3);
}

TEST_F(SideBySide, WhatMeasuresOneExampleNeedsMemoryOnce) {
  world.single.arena += 4096;  // more than all others
  world.single.allocations.back().bytes += 4096;
  Plan plan = world.plan(std::ssize(kTest));
  plan.sideBySide = 3;
  plan.repeats = 1;
  const auto outcome = run(plan, Data(kTest), world.victim, {world.method(Move::Rise)}, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->series.front().sideBySide, 3);
  EXPECT_GT(outcome->series.front().points.back().latency, 0);
}

TEST_F(SideBySide, OnlyMissingBatchesAreSearched) {
  const Method method = world.method(Move::Random, 3);
  Plan first = world.plan(4);
  ASSERT_TRUE(run(first, Data(kTest), world.victim, {method}, keeping(), {}));
  log().steps.clear();
  const auto outcome = search(8, {method}, keeping());
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::sort(log().steps.begin(), log().steps.end());
  EXPECT_EQ(log().steps, (std::vector<std::uint64_t>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(outcome->series.front().stored, 4);
  EXPECT_EQ(outcome->series.front().sideBySide, 2);
  const auto again = search(8, {method}, keeping());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->series.front().sideBySide, 0);
}

TEST_F(SideBySide, AFailureKeepsWhatOthersFound) {
  const Method method = world.method(Move::Nan);  // of the third example of a batch, which a filler may be
  const auto outcome = search(3, {method}, keeping());
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("example 2 has nan"), std::string::npos) << outcome.error().message;
  EXPECT_EQ(storedBy(method), (std::vector<std::int64_t>{8, 9}));
}

TEST_F(SideBySide, StoppedOnesKeepWhatIsDone) {
  // The first batch is done at once, and the others only end because they are told to.
  std::atomic<bool> stopped = false;
  log().moves = [&](std::uint64_t step) {
    for (int i = 0; step > 100 && !stopped && i < 2000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  Observer observer;
  int asked = 0;
  const std::thread::id here = std::this_thread::get_id();
  observer.stop = [&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    stopped = ++asked > 100 + 3;  // not before the first batch is done
    return stopped.load();
  };
  observer.progress = [&](std::int64_t, std::int64_t, const std::string&) { EXPECT_EQ(std::this_thread::get_id(), here); };
  const Method method = world.method(Move::Random, 100, 0);
  const auto outcome = search(2, {method}, keeping(), observer);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->interrupted);
  EXPECT_EQ(storedBy(method), (std::vector<std::int64_t>{0, 1, 2, 3}));
  const auto rest = search(2, {method}, keeping());
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(textsOf(*rest), textsOf(*search(1, {method})));
}

}  // namespace
}  // namespace tbem::perturb
