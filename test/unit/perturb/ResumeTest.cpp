// What the store has is not searched for again, and what was stopped goes on to the same points.
#include "test/unit/TemporaryFolder.h"
#include "test/unit/perturb/Toy.h"

#include "runtime/perturb/PointText.h"
#include "runtime/perturb/Stored.h"
#include "runtime/store/Store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tbem::perturb {
namespace {

using namespace toy;

const std::vector<float> kExamples = {0.1F, 0.2F, 0.24F, 0.4F, 0.45F, 0.3F, 0.05F, 0.44F, 0.6F, 0.22F};

class Resume : public test::TemporaryFolder {
protected:
  std::string path(const std::string& name = "points") const { return folder + "/" + name + ".tbemdb"; }
  Outcome search(const Plan& plan, const Keeping& keeping, const Observer& observer = {}) {
    auto outcome = run(plan, Data(kExamples), world.victim, {world.method(Move::Random, 3)}, keeping, observer);
    if (!outcome) throw std::runtime_error(outcome.error().message);  // GoogleTest reports it as the test's failure
    return std::move(*outcome);
  }
  /// Says stop once, when it is asked for the time `at`, from 1.
  static Observer stopping(std::int64_t at) {
    Observer observer;
    observer.stop = [at]() mutable { return --at == 0; };
    return observer;
  }
  static std::vector<std::string> textsOf(const Outcome& outcome) {
    std::vector<std::string> texts;
    for (const Point& point : outcome.series.front().points) texts.push_back(textOf(point));
    return texts;
  }
  static std::vector<store::StoredPoint> storedIn(const std::string& file, const std::string& identity) {
    return store::Store::open(file, store::Mode::ReadOnly)->points(identity, store::Inputs::Read).value();
  }

  World world;
};

TEST_F(Resume, PointsAreStoredWithTheirInputs) {
  const Outcome outcome = search(world.plan(6), {path()});
  const auto stored = storedIn(path(), "toy(2)");
  ASSERT_EQ(stored.size(), 6U);
  for (std::size_t e = 0; e < 6; ++e) {
    const Point& point = outcome.series.front().points[e];
    EXPECT_EQ(stored[e].example, point.example);
    EXPECT_EQ(stored[e].text, textOf(point));
    ASSERT_EQ(stored[e].input.size(), kElements * sizeof(float));
    std::vector<float> input(kElements);
    std::memcpy(input.data(), stored[e].input.data(), stored[e].input.size());
    double largest = 0, mean = 0;
    for (const float number : input) {
      largest = std::max(largest, std::abs(static_cast<double>(number) - static_cast<double>(kExamples[e])));
      mean += static_cast<double>(number) / kElements;
    }
    EXPECT_EQ(largest, point.linf);
    EXPECT_EQ(mean < 0.25 ? kLeaves : mean < 0.5 ? kSkips : kRuns, point.flops);
  }
}

TEST_F(Resume, AStoppedSearchGoesOnToTheSamePoints) {
  const std::vector<std::string> whole = textsOf(search(world.plan(10), {}));
  ASSERT_EQ(whole.size(), 10U);
  // Three batches of three steps: it is stopped before each step in turn.
  for (std::int64_t at = 1; at <= 9; ++at) {
    const Keeping keeping{path("stopped at " + std::to_string(at))};
    const Outcome stopped = search(world.plan(10), keeping, stopping(at));
    EXPECT_TRUE(stopped.interrupted);
    const std::size_t before = static_cast<std::size_t>((at - 1) / 3) * kBatch;
    ASSERT_EQ(stopped.series.size(), before > 0 ? 1U : 0U);
    if (before > 0) {
      EXPECT_EQ(textsOf(stopped), std::vector<std::string>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(before)));
    }
    const Outcome resumed = search(world.plan(10), keeping);
    EXPECT_FALSE(resumed.interrupted);
    EXPECT_EQ(resumed.series.front().stored, static_cast<std::int64_t>(before));
    EXPECT_EQ(textsOf(resumed), whole);
  }
}

TEST_F(Resume, MoreExamplesBeginWhereFewerEnded) {
  const std::vector<std::string> whole = textsOf(search(world.plan(10), {}));
  EXPECT_EQ(textsOf(search(world.plan(5), {path()})), std::vector<std::string>(whole.begin(), whole.begin() + 5));
  log() = {};
  const Outcome more = search(world.plan(10), {path()});
  EXPECT_EQ(more.series.front().stored, 5);
  EXPECT_EQ(textsOf(more), whole);
  EXPECT_EQ(log().steps, (std::vector<std::uint64_t>{4, 5, 6, 7, 8, 9}));  // not the first batch
  const Outcome fewer = search(world.plan(3), {path()});
  EXPECT_EQ(fewer.series.front().stored, 3);
  EXPECT_EQ(textsOf(fewer), std::vector<std::string>(whole.begin(), whole.begin() + 3));
}

TEST_F(Resume, OfABatchThatIsThereInPartTheRestIsTimed) {
  Plan timed = world.plan(5);
  timed.repeats = 1;
  const Outcome first = search(timed, {path()});
  log() = {};
  timed.count = 8;
  const Outcome more = search(timed, {path()});
  EXPECT_EQ(log().single.size(), 3U * 2 * (2 + 1));
  EXPECT_EQ(more.series.front().points[4].latency, first.series.front().points[4].latency);
  EXPECT_EQ(storedIn(path(), "toy(2)").size(), 8U);
}

TEST_F(Resume, WhatIsAllThereRunsNothing) {
  const Outcome first = search(world.plan(6), {path()});
  log() = {};
  const Outcome second = search(world.plan(6), {path()});
  EXPECT_TRUE(log().steps.empty());
  EXPECT_TRUE(log().victim.empty());
  EXPECT_EQ(textsOf(second), textsOf(first));
  EXPECT_EQ(second.series.front().moving, 0);
  EXPECT_EQ(second.series.front().stored, 6);
}

TEST_F(Resume, FreshSearchesAnewAndReplaces) {
  search(world.plan(6), {path()});
  Plan other = world.plan(6);
  other.seed = 4;
  const std::vector<std::string> expected = textsOf(search(other, {}));
  const Outcome fresh = search(other, {path(), true});
  EXPECT_EQ(fresh.series.front().stored, 0);
  EXPECT_EQ(textsOf(fresh), expected);
  const auto stored = storedIn(path(), "toy(2)");
  ASSERT_EQ(stored.size(), 6U);
  for (std::size_t e = 0; e < 6; ++e) EXPECT_EQ(stored[e].text, expected[e]);
}

TEST_F(Resume, PointsWithoutLatencyAreNoneWhereItIsWanted) {
  search(world.plan(2), {path()});
  Plan timed = world.plan(2);
  timed.repeats = 1;
  const Outcome outcome = search(timed, {path()});
  EXPECT_EQ(outcome.series.front().stored, 0);
  for (const Point& point : outcome.series.front().points) EXPECT_GT(point.latency, 0);
  EXPECT_EQ(search(timed, {path()}).series.front().stored, 2);
  EXPECT_EQ(search(world.plan(2), {path()}).series.front().stored, 2);
}

TEST_F(Resume, StoppedBetweenLatenciesWhatIsMeasuredIsKept) {
  Plan timed = world.plan(4);
  timed.repeats = 1;
  const Outcome stopped = search(timed, {path()}, stopping(5));  // three steps, then the latency of the second example
  EXPECT_TRUE(stopped.interrupted);
  ASSERT_EQ(stopped.series.size(), 1U);
  EXPECT_EQ(stopped.series.front().points.size(), 1U);
  EXPECT_EQ(log().single.size(), 2U * (2 + 1));
  EXPECT_EQ(storedIn(path(), "toy(2)").size(), 1U);
  const Outcome whole = search(timed, {path()});
  EXPECT_EQ(whole.series.front().stored, 1);
  EXPECT_EQ(whole.series.front().points.size(), 4U);
}

TEST_F(Resume, OfSeveralMethodsTheOnesBeforeAreWhole) {
  const std::vector<Method> methods = {world.method(Move::Wave), world.method(Move::Random, 3), world.method(Move::Rise)};
  std::vector<std::string> ended;
  Observer observer = stopping(2 + 3 + 1);
  observer.ends = [&](const Method&, const Series& series) { ended.push_back(series.text); };
  const auto outcome = run(world.plan(6), Data(kExamples), world.victim, methods, {path()}, observer);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->interrupted);
  ASSERT_EQ(outcome->series.size(), 2U);
  EXPECT_EQ(outcome->series[0].points.size(), 6U);
  EXPECT_EQ(outcome->series[1].points.size(), 4U);
  EXPECT_EQ(ended, (std::vector<std::string>{"toy(1)", "toy(2)"}));
}

TEST_F(Resume, AMethodWithoutAPointDoesNotEnd) {
  std::vector<std::string> ended;
  Observer observer = stopping(2);
  observer.ends = [&](const Method&, const Series& series) { ended.push_back(series.text); };
  EXPECT_TRUE(search(world.plan(6), {path()}, observer).series.empty());
  EXPECT_TRUE(ended.empty());
}

/// What is there of every method, whichever of them was stopped, and without their executables.
TEST_F(Resume, StoredPointsAreReadWithoutASearch) {
  std::vector<Method> methods = {world.method(Move::Random, 3), world.method(Move::Far), world.method(Move::Wave)};
  ASSERT_TRUE(search(world.plan(10), {path()}, stopping(3 + 1)).interrupted);
  const auto wave = run(world.plan(10), Data(kExamples), world.victim, {methods.back()}, {path()}, {});
  ASSERT_TRUE(wave);
  for (Method& method : methods) method.mover = nullptr;
  log() = {};
  const std::vector<std::string> gates = {"a.exit", "b.skip"};
  EXPECT_EQ(wave->series.front().gates, gates);
  const auto all = stored(world.plan(10), gates, methods, path());
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->front().text, methods.front().text);
  EXPECT_EQ(all->front().points.size(), static_cast<std::size_t>(kBatch));
  EXPECT_EQ(all->front().stored, kBatch);
  EXPECT_EQ(all->back().text, methods.back().text);
  EXPECT_EQ(all->back().gates, gates);
  ASSERT_EQ(all->back().points.size(), 10U);
  for (std::size_t e = 0; e < 10; ++e) EXPECT_EQ(textOf(all->back().points[e]), textOf(wave->series.front().points[e]));
  EXPECT_TRUE(log().victim.empty());
  EXPECT_EQ(stored(world.plan(3), gates, methods, path())->back().points.size(), 3U);
  EXPECT_FALSE(stored(world.plan(3), gates, methods, path("absent")));
  EXPECT_FALSE(std::filesystem::exists(path("absent")));
}

void expectEnvironment(const tl::expected<Outcome, Failure>& outcome, const std::vector<std::string>& words) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Failure::Kind::Environment);
  for (const std::string& word : words)
    EXPECT_NE(outcome.error().message.find(word), std::string::npos) << outcome.error().message;
}

TEST_F(Resume, AStoreThatCannotBeUsedIsSaid) {
  const std::vector<Method> methods = {world.method(Move::Random)};
  const auto searched = [&](const Keeping& keeping) {
    return run(world.plan(2), Data(kExamples), world.victim, methods, keeping, {});
  };
  expectEnvironment(searched({folder + "/no/such.tbemdb"}), {"such.tbemdb", "--store"});
  std::ofstream(path("text")) << "these are my notes, not a database\n";
  expectEnvironment(searched({path("text")}), {"not a store"});

  Point ofAnother;
  ofAnother.decisions = {1};
  for (const auto& [text, why] :
       {std::pair{std::string("{}"), "label"}, std::pair{textOf(ofAnother), "a network with other gates"}}) {
    auto store = store::Store::open(path());
    ASSERT_TRUE(store && store->commitPoints("toy(2)", std::vector{store::StoredPoint{1, text, {}}}));
    expectEnvironment(searched({path()}), {path(), "toy(2)", "example 1", why, "--again"});
  }
  EXPECT_TRUE(searched({path(), true}));
}

}  // namespace
}  // namespace tbem::perturb
