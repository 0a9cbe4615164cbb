// Plans over random sets of lifetimes, and over those whose best plan is known.
#include "compiler/plan/Pack.h"
#include "compiler/plan/Plan.h"

#include <gtest/gtest.h>

#include <random>

using namespace tbem::estimate;

namespace {
/// Largest sum of live bytes, by looking at every step.
std::uint64_t slowBound(const std::vector<Request>& requests) {
  std::uint64_t most = 0;
  for (const Request& probe : requests) {
    std::uint64_t live = 0;
    for (const Request& other : requests) {
      if (other.first <= probe.first && probe.first <= other.last) live += alignUp(other.bytes);
    }
    most = std::max(most, live);
  }
  return most;
}

/// Two requests that overlap, by looking at every pair.
bool slowOverlap(const std::vector<Request>& requests, const std::vector<std::uint64_t>& offsets) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::size_t k = i + 1; k < requests.size(); ++k) {
      const bool together = requests[i].first <= requests[k].last && requests[k].first <= requests[i].last;
      const bool bytes = offsets[i] < offsets[k] + requests[k].bytes && offsets[k] < offsets[i] + requests[i].bytes;
      if (together && bytes && requests[i].bytes != 0 && requests[k].bytes != 0) return true;
    }
  }
  return false;
}

void expectSound(const std::vector<Request>& requests, const Plan& plan) {
  ASSERT_EQ(plan.offsets.size(), requests.size());
  EXPECT_EQ(checkOverlap(requests, plan.offsets).value_or(""), "");
  EXPECT_FALSE(slowOverlap(requests, plan.offsets));
  std::uint64_t top = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kAlignment, 0U);
    if (requests[i].bytes != 0) top = std::max(top, plan.offsets[i] + alignUp(requests[i].bytes));
  }
  EXPECT_EQ(plan.peak, top);
  EXPECT_EQ(plan.bound, slowBound(requests));
  EXPECT_GE(plan.peak, plan.bound);
}

std::vector<Request> randomRequests(std::mt19937& random, std::size_t count, std::uint32_t steps, std::uint64_t most) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t a = static_cast<std::uint32_t>(random() % steps);
    const std::uint32_t b = static_cast<std::uint32_t>(random() % steps);
    requests.push_back({random() % (most + 1), std::min(a, b), std::max(a, b)});
  }
  return requests;
}

TEST(Plan, RandomPlansAreSound) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const auto requests =
        randomRequests(random, random() % 60, 1 + static_cast<std::uint32_t>(random() % 40), round % 2 == 0 ? 100'000 : 300);
    expectSound(requests, planOffsets(requests, {50'000, 200}));
  }
}

TEST(Plan, TheSameRequestsGiveTheSamePlan) {
  std::mt19937 random(5);
  const auto requests = randomRequests(random, 120, 60, 1'000'000);
  EXPECT_EQ(planOffsets(requests).offsets, planOffsets(requests).offsets);
}

TEST(Plan, AStackMeetsItsBound) {
  // What a training step keeps: made in order, freed in reverse.
  std::mt19937 random(7);
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < 200; ++i) requests.push_back({64 * (1 + random() % 5000), i, 400 - i});
  const Plan plan = planOffsets(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.peak, plan.bound);
}

/// Lifetimes as in a training step of a recurrent cell over `count` places: values that wait for the backward pass, temporaries,
/// an output layer in between, and the gradients of the places, which are all made before the first is used.
std::vector<Request> recurrence(std::uint32_t count) {
  constexpr std::uint64_t kState = 2048, kGates = 4 * kState, kScores = 16 * kState;
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t forward = 9 * i, middle = 9 * count + 10, backward = middle + count + 16 * (count - 1 - i);
    requests.insert(requests.end(), {{kGates, forward + 2, forward + 9}, {kGates, forward + 3, forward + 5}});
    for (std::uint32_t gate = 0; gate < 3; ++gate) requests.push_back({kState, forward + 5 + gate, backward});
    for (const std::uint32_t last : {backward - 16, backward + 4, backward + 3, backward - 9, backward - 5})
      requests.push_back({kState, forward + 9, last});
    requests.push_back({kState, middle + i, backward + 6});
    requests.insert(
        requests.end(),
        {{kGates, backward, backward + 5}, {kState, backward + 2, backward + 10}, {kState, backward + 4, backward + 18}});
  }
  const std::uint32_t head = 9 * count;
  requests.insert(requests.end(), {{kState * count, head, head + 8},
                                   {kScores * count, head + 1, head + 5},
                                   {kScores * count, head + 4, head + 9},
                                   {kState * count, head + 8, head + 10 + count}});
  return requests;
}

TEST(Plan, ALongRecurrenceMeetsItsBound) {
  // More requests than complete search takes; greedy orders end 5 % above the bound.
  const std::vector<Request> requests = recurrence(700);
  ASSERT_GT(requests.size(), kMostSearched);
  const Plan plan = planOffsets(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.peak, plan.bound);
}

TEST(Plan, AQueueOfEqualBuffersTakesTwo) {
  // A chain: each value lives from its step to the next.
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < 100; ++i) requests.push_back({1000, i, i + 1});
  const Plan plan = planOffsets(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.peak, 2 * alignUp(1000));
}

TEST(Plan, ASingleStepHoldsTheSum) {
  std::vector<Request> requests;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 1; i < 50; ++i) {
    requests.push_back({i * 37, 4, 4});
    sum += alignUp(i * 37);
  }
  const Plan plan = planOffsets(requests);
  expectSound(requests, plan);
  EXPECT_EQ(plan.peak, sum);
}

TEST(Plan, NothingTakesNothing) {
  EXPECT_EQ(planOffsets({}).peak, 0U);
  const std::vector<Request> empty{{0, 1, 5}, {0, 0, 9}};
  EXPECT_EQ(planOffsets(empty).peak, 0U);
}

TEST(Plan, HillClimbingFindsWhatGreedyMisses) {
  // Rectangles cut out of one full one: a plan of exactly its height exists. (Guillotine cuts, as packing benchmarks use.)
  std::mt19937 random(9);
  int met = 0;
  for (int round = 0; round < 20; ++round) {
    struct Cut {
      std::uint64_t low, high;
      std::uint32_t first, last;
    };
    std::vector<Cut> cuts{{0, 64 * 64, 0, 63}};
    while (cuts.size() < 24) {
      const std::size_t which = random() % cuts.size();
      Cut rest = cuts[which];
      if (random() % 2 == 0 && rest.high - rest.low >= 128) {
        rest.low += 64 * (1 + random() % ((rest.high - rest.low) / 64 - 1));
        cuts[which].high = rest.low;
      } else if (rest.last > rest.first) {
        rest.first += 1 + static_cast<std::uint32_t>(random() % (rest.last - rest.first));
        cuts[which].last = rest.first - 1;
      } else {
        continue;
      }
      cuts.push_back(rest);
    }
    std::vector<Request> requests;
    for (const Cut& cut : cuts) requests.push_back({cut.high - cut.low, cut.first, cut.last});
    const Plan plan = planOffsets(requests);
    expectSound(requests, plan);
    EXPECT_EQ(plan.bound, 64U * 64U);
    EXPECT_LE(static_cast<double>(plan.peak), 1.25 * static_cast<double>(plan.bound));
    met += plan.peak == plan.bound ? 1 : 0;
  }
  EXPECT_GE(met, 10);
}

TEST(Plan, TheCheckerSeesFaults) {
  std::mt19937 random(13);
  int seen = 0;
  for (int round = 0; round < 300; ++round) {
    const auto requests = randomRequests(random, 4, 10, 2000);
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 0; i < requests.size(); ++i) offsets.push_back(64 * (random() % 200));
    EXPECT_EQ(checkOverlap(requests, offsets).has_value(), slowOverlap(requests, offsets));
    seen += slowOverlap(requests, offsets) ? 1 : 0;
  }
  EXPECT_GT(seen, 30);
  EXPECT_LT(seen, 300);
  EXPECT_TRUE(checkOverlap(std::vector<Request>{{64, 0, 1}}, std::vector<std::uint64_t>{32}).has_value()) << "not aligned";
  EXPECT_TRUE(checkOverlap(std::vector<Request>{{64, 0, 1}}, std::vector<std::uint64_t>{}).has_value());
}
}  // namespace
