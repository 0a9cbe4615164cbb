// What hardens a training: which examples of a batch it moves, with which random numbers, and what the training sees of it.
#include "test/unit/TemporaryFolder.h"
#include "test/unit/perturb/Toy.h"

#include "runtime/perturb/Hardener.h"
#include "runtime/train/Feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <memory>
#include <utility>

namespace tbem::perturb {
namespace {

using namespace toy;

constexpr std::int64_t kNumbers = kBatch * kElements;

class Hardening : public test::TemporaryFolder {
protected:
  /// Without the input of labels, which such a method has not.
  Method method(Move move, std::int64_t steps = 1) {
    Method method = world.method(move, steps);
    runtime::Executable& mover = movers.emplace_back(*method.mover);
    std::erase_if(mover.storages, [&](const runtime::StorageDesc& storage) { return storage.path == method.label; });
    method.mover = &mover;
    method.label.clear();
    return method;
  }
  /// It moves a batch whose numbers are all 0.5.
  tl::expected<std::vector<float>, std::string> moved(const Method& method, const Plan& plan, std::int64_t count,
                                                      const std::vector<std::int64_t>& steps = {1}, float number = 0.5F) {
    arena = runtime::Arena::create(std::array{&std::as_const(world.learner), method.mover}, *world.victim.backend).value();
    const auto mover = hardening(method, plan, count).create(*arena);
    if (!mover) return tl::unexpected(mover.error());
    std::vector<float> numbers;
    for (const std::int64_t step : steps) {
      numbers.assign(kNumbers, number);
      if (const auto done = (*mover)->move(numbers, step); !done) return tl::unexpected(done.error());
    }
    return numbers;
  }
  /// A training of the learner's two epochs on eight examples, half of each batch hardened; with a turn of so many steps, or
  /// none.
  tl::expected<train::Outcome, train::TrainFailure> trained(const std::string& path, const train::Observer& observer = {},
                                                            std::int64_t turn = 0) {
    train::Plan plan;
    plan.split = data::Split::Train;
    plan.batch = kBatch;
    plan.epochs = 2;
    plan.seed = 5;
    train::Machine machine;
    machine.backend = world.victim.backend;
    machine.step = &world.learner;
    if (turn > 0) machine.turns = {{&world.learner, {}, turn}};
    machine.inputs = {"image"};
    machine.hardening = hardening(method(Move::Random, 3), world.plan(0), 2);
    const Data data({}, {0.3F, 0.35F, 0.4F, 0.45F, 0.5F, 0.55F, 0.6F, 0.65F});
    return train::run(plan, data, machine, {path}, observer);
  }

  World world;
  std::list<runtime::Executable> movers;
  std::unique_ptr<runtime::Arena> arena;
};

TEST_F(Hardening, MovesTheFirstOfTheBatchFromStepToStep) {
  const auto numbers = moved(method(Move::Rise, 3), world.plan(0), 2);
  ASSERT_TRUE(numbers) << numbers.error();
  for (std::size_t i = 0; i < kNumbers; ++i) EXPECT_NEAR((*numbers)[i], i < 2 * kElements ? 0.65 : 0.5, 1e-6) << i;
  const auto all = moved(method(Move::Rise, 9), world.plan(0), kBatch);
  for (const float number : all.value()) EXPECT_NEAR(number, 0.5 + kRadius, 1e-6);  // no further than the ball
}

TEST_F(Hardening, StatesBeginAnewWithEachBatch) {
  EXPECT_NEAR(moved(method(Move::Wave, 2), world.plan(0), 1, {1, 2, 3}).value().front(), 0.5 + kRadius, 1e-6);
}

TEST_F(Hardening, RandomNumbersAreThoseOfTheStepAndTheSeed) {
  Plan plan = world.plan(0);
  const Method random = method(Move::Random, 3);
  const auto third = moved(random, plan, kBatch, {3}).value();
  EXPECT_EQ(log().steps, (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_EQ(moved(random, plan, kBatch, {1, 2, 3}).value(), third);  // whatever came before
  EXPECT_NE(moved(random, plan, kBatch, {2}).value(), third);
  plan.seed += 1;
  EXPECT_NE(moved(random, plan, kBatch, {3}).value(), third);
}

TEST_F(Hardening, RefusesWhatLiesOutside) {
  const auto refused = [&](const Method& method, float number) {
    const auto numbers = moved(method, world.plan(0), 2, {4}, number);
    return numbers ? "" : numbers.error();
  };
  const std::string box = refused(method(Move::Rise), 2.5F);
  for (const char* part : {"step 4", "has 2.5 at place 0", "from 0 to 1", "from 2.5 to 2.5", "`box`", "`harden`"})
    EXPECT_NE(box.find(part), std::string::npos) << box;
  const std::string ball = refused(method(Move::Far), 0.5F);
  EXPECT_NE(ball.find("lies 0.3"), std::string::npos) << ball;
  EXPECT_NE(refused(method(Move::Rise), std::nanf("")).find("not numbers"), std::string::npos);
}

TEST_F(Hardening, TheStepSeesMovedExamples) {
  ASSERT_TRUE(trained(""));
  ASSERT_EQ(log().learner.size(), 4U);
  for (std::size_t step = 0; step < 4; ++step) {
    const std::vector<float>& seen = log().learner[step];
    const std::vector<float>& examples = log().seeds[3 * step];  // three steps of the method before each
    EXPECT_TRUE(std::equal(seen.begin() + 2 * kElements, seen.end(), examples.begin() + 2 * kElements));
    EXPECT_FALSE(std::equal(seen.begin(), seen.begin() + kElements, examples.begin()));
    for (std::size_t i = 0; i < 2 * kElements; ++i) EXPECT_LE(std::abs(seen[i] - examples[i]), kRadius * (1 + 1e-5));
  }
  EXPECT_EQ(log().steps, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST_F(Hardening, AStoppedTrainingGoesOnWithTheSameMoves) {
  ASSERT_TRUE(trained(""));
  const auto whole = log().learner;
  const std::vector<double> losses = log().losses;
  for (std::int64_t at = 2; at <= 4; ++at) {
    log() = {};
    const std::string path = folder + "/" + std::to_string(at) + ".safetensors";
    train::Observer observer;
    observer.stop = [left = at]() mutable { return --left == 0; };
    const auto stopped = trained(path, observer);
    ASSERT_TRUE(stopped && stopped->status == train::Outcome::Status::Interrupted);
    EXPECT_EQ(std::ssize(log().learner), at - 1);
    const auto resumed = trained(path);
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_TRUE(resumed->resumed);
    EXPECT_EQ(log().learner, whole);
    EXPECT_EQ(log().losses, losses);
  }
}

/// Turns see the batch that the step sees, which is moved once, and the batch is read once however many steps take it.
TEST_F(Hardening, TurnsSeeWhatWasMovedOnce) {
  ASSERT_TRUE(trained(""));
  const auto alone = log().learner;
  log() = {};
  ASSERT_TRUE(trained("", {}, 2));
  EXPECT_EQ(log().steps, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  ASSERT_EQ(log().learner.size(), 3 * alone.size());
  for (std::size_t i = 0; i < log().learner.size(); ++i) EXPECT_EQ(log().learner[i], alone[i / 3]) << i;
}

/// What is changed of a batch in hand is what each instance gets.
TEST_F(Hardening, AFeedWritesWhatItHolds) {
  arena = runtime::Arena::create(std::array{&std::as_const(world.learner)}, *world.victim.backend).value();
  auto instance = runtime::Instance::create(world.learner, *arena).value();
  const Data data({}, {0.1F, 0.2F, 0.3F, 0.4F});
  const std::vector<std::string> inputs = {"image"};
  train::Feed feed(data, inputs);
  const std::vector<std::int64_t> examples = {3, 2, 1, 0};
  const auto written = [&] { return instance->readStorage(*instance->findStorage("image")).value().doubles(); };
  ASSERT_TRUE(feed.load(data::Split::Train, examples));
  EXPECT_EQ(feed.numbersOf(0).front(), 0.4F);
  feed.numbersOf(0).front() = 7;
  ASSERT_TRUE(feed.write(*instance));
  EXPECT_EQ(written()[0], 7);
  EXPECT_EQ(written()[1], static_cast<double>(0.4F));
}

}  // namespace
}  // namespace tbem::perturb
