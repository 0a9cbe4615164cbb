// The search: which points are kept, what movers are given, and what is refused.
#include "test/unit/perturb/Toy.h"

#include "runtime/core/Decisions.h"
#include "runtime/perturb/Network.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbem::perturb {
namespace {

using namespace toy;

Series only(const tl::expected<Outcome, Failure>& outcome) {
  if (!outcome) throw std::runtime_error(outcome.error().message);  // GoogleTest reports it as the test's failure
  EXPECT_FALSE(outcome->interrupted);
  EXPECT_EQ(outcome->series.size(), 1U);
  return outcome->series.front();
}

std::vector<double> flopsOf(const Series& series) {
  std::vector<double> all;
  for (const Point& point : series.points) all.push_back(point.flops);
  return all;
}
std::vector<double> linfOf(const Series& series) {
  std::vector<double> all;
  for (const Point& point : series.points) all.push_back(point.linf);
  return all;
}

void expectNear(const std::vector<double>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
}

TEST(Network, CostsAndPredictsByExample) {
  const World world;
  const runtime::Executable* const all[] = {&world.batch, &world.single};
  const auto arena = *runtime::Arena::create(all, *world.victim.backend);
  const auto network = *Network::create(world.victim, world.weights, *arena);
  EXPECT_EQ(network->gates(), (std::vector<std::string>{"a.exit", "b.skip"}));
  std::vector<float> points;
  for (const float value : {0.6F, 0.1F, 0.3F, 0.9F}) points.insert(points.end(), kElements, value);
  const auto answers = network->ask(points).value();
  ASSERT_EQ(answers.size(), 4U);
  const std::vector<std::vector<double>> decisions = {{0, 0}, {1, -1}, {0, 1}, {0, 0}};
  const double flops[] = {kRuns, kLeaves, kSkips, kRuns};
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i].decisions, decisions[i]);
    EXPECT_EQ(answers[i].flops, flops[i]);
    EXPECT_EQ(answers[i].prediction, i == 0 || i == 3 ? 1 : 0);
    sum += answers[i].flops;
  }
  // The same by branches, as evaluations count it.
  const auto sizes = runtime::branchSizes(network->instance()).value();
  double byBranches = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) byBranches += static_cast<double>(sizes[b]) * world.victim.branchFlops[b];
  EXPECT_EQ(sum, byBranches);
}

TEST(Perturb, OfTheLooksTheFirstThatCostsMostIsKept) {
  const World world;
  const Data data({0.1F, 0.22F, 0.45F, 0.6F, 0.35F});
  // 0.05, 0.2, 0.1, 0.1 above the example
  const Series series = only(run(world.plan(5), data, world.victim, {world.method(Move::Wave, 4)}, {}, {}));
  ASSERT_EQ(series.points.size(), 5U);
  EXPECT_EQ(flopsOf(series), (std::vector<double>{kSkips, kSkips, kRuns, kRuns, kRuns}));
  expectNear(linfOf(series), {0.2, 0.05, 0.05, 0.05, 0.2});
  for (std::size_t i = 0; i < 5; ++i) {
    const Point& point = series.points[i];
    EXPECT_EQ(point.example, static_cast<std::int64_t>(i));
    EXPECT_EQ(point.label, static_cast<std::int64_t>(i % 2));
    EXPECT_NEAR(point.l2, 2 * point.linf, 1e-6);  // four numbers that moved alike
    EXPECT_NEAR(point.psnr, -20 * std::log10(point.linf), 1e-4);
    EXPECT_EQ(point.ssim, std::nullopt);
    EXPECT_EQ(point.latency, 0);
  }
  EXPECT_EQ(series.points[0].flopsBefore, kLeaves);
  EXPECT_EQ(series.points[0].decisionsBefore, (std::vector<double>{1, -1}));
  EXPECT_EQ(series.points[0].decisions, (std::vector<double>{0, 1}));
  EXPECT_EQ(series.points[4].before, 0);
  EXPECT_EQ(series.points[4].after, 1);
  EXPECT_EQ(series.gates, (std::vector<std::string>{"a.exit", "b.skip"}));
  EXPECT_EQ(series.stored, 0);
  EXPECT_GT(series.moving, 0);
  EXPECT_EQ(series.learning, 0);
}

TEST(Perturb, LooksAfterEverySecondAndTheLastStepOrThatAlone) {
  const Data data({0.35F});
  for (const auto& [steps, look, linf] : {std::tuple{3, 2, 0.2}, {3, 3, 0.1}, {3, 0, 0.1}, {2, 0, 0.2}, {1, 1, 0.05}}) {
    const World world;
    const Series series = only(run(world.plan(1), data, world.victim, {world.method(Move::Wave, steps, look)}, {}, {}));
    expectNear(linfOf(series), {linf});
    EXPECT_EQ(log().victim.size(), 1 + (look == 2 ? 2U : 1U)) << steps << " " << look;
  }
}

TEST(Perturb, AMoverGoesOnFromItsPoint) {
  const World world;
  const Series series = only(run(world.plan(2), Data({0.1F, 0.9F}), world.victim, {world.method(Move::Rise, 3, 0)}, {}, {}));
  expectNear(linfOf(series), {0.15, 0.1});
}

TEST(Perturb, WithLabelsKeptOnlyPointsOfTheSamePredictionCount) {
  const World world;
  Plan plan = world.plan(3);
  plan.keepLabel = true;
  // 0.35 keeps its label on the way to 0.4 alone, 0.49 nowhere; 0.1 does everywhere.
  const Series series = only(run(plan, Data({0.35F, 0.49F, 0.1F}), world.victim, {world.method(Move::Wave, 2)}, {}, {}));
  expectNear(linfOf(series), {0.05, 0, 0.2});
  EXPECT_EQ(flopsOf(series), (std::vector<double>{kSkips, kSkips, kSkips}));
  const Point& unmoved = series.points[1];
  EXPECT_EQ(unmoved.linf, 0);
  EXPECT_TRUE(std::isinf(unmoved.psnr));
  EXPECT_EQ(unmoved.after, unmoved.before);
  EXPECT_EQ(unmoved.decisions, unmoved.decisionsBefore);
}

TEST(Perturb, ALabelIsWhatTheNetworkPredictsOfTheExample) {
  const World world;
  const Series series = only(run(world.plan(3), Data({0.6F, 0.3F, 0.8F}), world.victim, {world.method(Move::Label)}, {}, {}));
  expectNear(linfOf(series), {0.1, 0, 0.1});
}

TEST(Perturb, ALastBatchIsFilledWithItsLastExample) {
  const World world;
  const Data data({0.1F, 0.2F, 0.3F, 0.4F, 0.45F, 0.7F});
  const Series series = only(run(world.plan(6), data, world.victim, {world.method(Move::Wave)}, {}, {}));
  EXPECT_EQ(series.points.size(), 6U);
  ASSERT_EQ(log().seeds.size(), 2U);
  std::vector<float> second;
  for (std::size_t i = 0; i < kBatch; ++i) second.push_back(log().seeds[1][i * kElements]);
  EXPECT_EQ(second, (std::vector<float>{0.45F, 0.7F, 0.7F, 0.7F}));
  EXPECT_EQ(series.points[5].flops, kRuns);
}

TEST(Perturb, StepsAreNumberedOnFromBatchToBatch) {
  const World world;
  ASSERT_TRUE(run(world.plan(6), Data(std::vector<float>(6, 0.5F)), world.victim, {world.method(Move::Random, 3)}, {}, {}));
  EXPECT_EQ(log().steps, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Perturb, TheNetworkIsAskedOnceAboutExamplesWhateverMovesThem) {
  const World world;
  std::vector<std::string> calls;
  Observer observer;
  observer.begins = [&](const Method& method) { calls.push_back("begins " + method.text); };
  observer.ends = [&](const Method&, const Series& series) { calls.push_back("ends " + series.text); };
  std::int64_t last = 0;
  observer.progress = [&](std::int64_t done, std::int64_t total, const std::string&) {
    EXPECT_EQ(total, 10);
    EXPECT_GE(done, last);
    last = done;
  };
  const auto outcome = run(world.plan(5), Data({0.1F, 0.2F, 0.3F, 0.4F, 0.45F}), world.victim,
                           {world.method(Move::Wave), world.method(Move::Rise)}, {}, observer);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->series.size(), 2U);
  EXPECT_EQ(log().victim.size(), 2U + 2 * 2U);
  EXPECT_EQ(calls, (std::vector<std::string>{"begins toy(1)", "ends toy(1)", "begins toy(0)", "ends toy(0)"}));
  EXPECT_EQ(last, 10);
}

TEST(Perturb, LatencyIsThatOfExampleAndPointInTurn) {
  const World world;
  Plan plan = world.plan(2);
  plan.repeats = 3;
  const Series series = only(run(plan, Data({0.1F, 0.3F}), world.victim, {world.method(Move::Wave, 2)}, {}, {}));
  for (const Point& point : series.points) {
    EXPECT_GT(point.latencyBefore, 0);
    EXPECT_GT(point.latency, 0);
  }
  ASSERT_EQ(log().single.size(), 2U * 2 * (2 + 3));  // two runs each to warm up
  for (std::size_t i = 0; i < log().single.size(); ++i) {
    const double example = i < 10 ? 0.1 : 0.3, up = i % 2 == 0 ? 0 : 0.2;
    EXPECT_NEAR(log().single[i].front(), example + up, 1e-6) << i;
  }
}

TEST(Perturb, WithoutClassesAndLabels) {
  World world;
  world.victim.classAxis.reset();
  Plan plan = world.plan(1);
  plan.keepLabel = true;  // nothing to keep
  const Data data({0.35F}, {}, false);
  const Series series = only(run(plan, data, world.victim, {world.method(Move::Wave, 2)}, {}, {}));
  EXPECT_EQ(series.points[0].label, -1);
  EXPECT_EQ(series.points[0].before, -1);
  EXPECT_EQ(series.points[0].after, -1);
  EXPECT_EQ(series.points[0].flops, kRuns);
}

void expectFailure(const tl::expected<Outcome, Failure>& outcome, Failure::Kind kind, const std::vector<std::string>& words) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, kind) << outcome.error().message;
  for (const std::string& word : words)
    EXPECT_NE(outcome.error().message.find(word), std::string::npos) << outcome.error().message;
}

using Kind = Failure::Kind;

TEST(PerturbFails, ForAPointOutsideOfTheBall) {
  const World world;
  const Data data({0.1F, 0.2F});
  expectFailure(run(world.plan(2), data, world.victim, {world.method(Move::Far)}, {}, {}), Kind::Run,
                {"toy(4)", "example 0", "0.3", "linf", "radius is 0.2"});
  Plan plan = world.plan(2);
  plan.norm = Norm::L2;
  plan.radius = 0.6 * (1 - 2e-5);
  expectFailure(run(plan, data, world.victim, {world.method(Move::Far)}, {}, {}), Kind::Run, {"by l2", "lies 0.6"});
  plan.radius = 0.6;  // four times 0.3, but for what f32 rounds
  EXPECT_TRUE(run(plan, data, world.victim, {world.method(Move::Far)}, {}, {}));
}

TEST(PerturbFails, ForAPointOutsideOfTheBox) {
  const World world;
  Plan plan = world.plan(2);
  plan.radius = 0.5;
  expectFailure(run(plan, Data({0.1F, 0.9F}), world.victim, {world.method(Move::Far)}, {}, {}), Kind::Run,
                {"toy(4)", "example 1 has 1.2", "place 0", "from 0 to 1", "step 1 of 1"});
}

TEST(PerturbFails, ForAPointThatIsNoNumber) {
  const World world;
  expectFailure(run(world.plan(3), Data({0.1F, 0.2F, 0.3F}), world.victim, {world.method(Move::Nan)}, {}, {}), Kind::Run,
                {"toy(5)", "example 2 has nan"});
  // A filler that is none is nobody's.
  EXPECT_TRUE(run(world.plan(2), Data({0.1F, 0.2F}), world.victim, {world.method(Move::Nan)}, {}, {}));
}

TEST(PerturbFails, ForExamplesThatAreNoValidInput) {
  const World world;
  expectFailure(run(world.plan(2), Data({0.1F, -0.4F}), world.victim, {world.method(Move::Wave)}, {}, {}), Kind::Environment,
                {"example 1 of the test split has -0.4", "box"});
  Plan plan = world.plan(2);
  plan.split = data::Split::Train;
  expectFailure(run(plan, Data({0.1F}), world.victim, {world.method(Move::Wave)}, {}, {}), Kind::Environment,
                {"no examples in its training split"});
}

TEST(PerturbFails, ForExecutablesThatDoNotFit) {
  World world;
  const Data data({0.1F});
  Method method = world.method(Move::Wave);
  method.states = {"state", "another"};
  expectFailure(run(world.plan(1), data, world.victim, {method}, {}, {}), Kind::Run, {"toy(1)", "2 outputs", "2 states"});
  method = world.method(Move::Learned);  // with a weight that nothing learns
  expectFailure(run(world.plan(1), data, world.victim, {method}, {}, {}), Kind::Run, {"toy(6)", "`generator.g` is neither"});
  method = world.method(Move::Wave, std::int64_t{1} << 32U);
  expectFailure(run(world.plan(1), data, world.victim, {method}, {}, {}), Kind::Run, {"4294967296 steps"});
  Plan timed = world.plan(1);
  timed.repeats = 1;
  world.victim.single = nullptr;
  expectFailure(run(timed, data, world.victim, {world.method(Move::Wave)}, {}, {}), Kind::Run, {"latency", "one example"});
  world.victim.branchFlops.pop_back();
  expectFailure(run(world.plan(1), data, world.victim, {world.method(Move::Wave)}, {}, {}), Kind::Run, {"5 branches", "of 4"});
  world.weights.entries.clear();
  world.victim.branchFlops.push_back(200);
  expectFailure(run(world.plan(1), data, world.victim, {}, {}, {}), Kind::Run, {"net.w"});
}

}  // namespace
}  // namespace tbem::perturb
