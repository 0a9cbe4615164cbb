// Complete search against every order of placing, on sets so small that all can be tried.
#include "compiler/plan/Pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace tbem::estimate;

namespace {

/// The lowest arena: every order, each buffer at the lowest place that is free of those before it. Some order gives an optimum:
/// that of the places of one that was pushed down.
std::uint64_t lowestByOrders(const std::vector<Request>& requests) {
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t best = ~std::uint64_t{0};
  do {
    std::vector<std::uint64_t> offsets(requests.size(), 0);
    std::uint64_t top = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t i = order[k];
      std::uint64_t at = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t p = 0; p < k; ++p) {
          const std::size_t other = order[p];
          const bool together = requests[i].first <= requests[other].last && requests[other].first <= requests[i].last;
          if (together && at < offsets[other] + requests[other].bytes && offsets[other] < at + requests[i].bytes) {
            at = offsets[other] + requests[other].bytes;
            moved = true;
          }
        }
      }
      offsets[i] = at;
      top = std::max(top, at + requests[i].bytes);
    }
    best = std::min(best, top);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Pack, FindsTheLowestArenaAndShowsThatNoneIsLower) {
  std::mt19937 random(17);
  for (int round = 0; round < 150; ++round) {
    std::vector<Request> requests;
    for (int i = 0; i < 7; ++i) {
      const auto a = static_cast<std::uint32_t>(random() % 8), b = static_cast<std::uint32_t>(random() % 8);
      requests.push_back({1 + random() % 9, std::min(a, b), std::max(a, b)});
    }
    const std::uint64_t lowest = lowestByOrders(requests);
    const Packing found = packWithin(requests, lowest, 1'000'000, 1);
    ASSERT_EQ(found.fit, Fit::Found) << round;
    EXPECT_EQ(checkOverlap(requests, found.offsets, 1).value_or(""), "");
    for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_LE(found.offsets[i] + requests[i].bytes, lowest);
    EXPECT_EQ(packWithin(requests, lowest - 1, 1'000'000, 1).fit, Fit::None) << round;
    const Plan plan = planOffsets(requests, {1'000, 100'000}, 1);
    EXPECT_EQ(plan.peak, lowest);
    EXPECT_TRUE(plan.isLowest());
  }
}

TEST(Pack, SomeSetsHaveNoPlanAtTheirBound) {
  const std::vector<Request> requests{{4, 0, 1}, {4, 4, 5}, {1, 4, 5}, {2, 1, 2}, {2, 1, 3},
                                      {2, 2, 3}, {3, 0, 0}, {2, 0, 5}, {3, 3, 4}};
  EXPECT_EQ(liveBound(requests, 1), 10U);
  EXPECT_EQ(lowestByOrders(requests), 11U);
  EXPECT_EQ(packWithin(requests, 10, 1'000'000, 1).fit, Fit::None);
  const Plan plan = planOffsets(requests, {1'000, 100'000}, 1);
  EXPECT_EQ(plan.peak, 11U);
  EXPECT_EQ(plan.proved, 11U);
}

TEST(Pack, ASearchThatIsEndedSaysSo) {
  std::mt19937 random(3);
  std::vector<Request> requests;
  for (int i = 0; i < 60; ++i) {
    const auto a = static_cast<std::uint32_t>(random() % 40), b = static_cast<std::uint32_t>(random() % 40);
    requests.push_back({64 * (1 + random() % 100), std::min(a, b), std::max(a, b)});
  }
  const Packing packing = packWithin(requests, liveBound(requests), 10);
  EXPECT_EQ(packing.fit, Fit::Unknown);
  EXPECT_LE(packing.nodes, 10U);
}

TEST(Pack, MoreThanItSearchesIsNotBegun) {
  const std::vector<Request> requests(kMostSearched + 1, Request{64, 0, 0});
  const Packing packing = packWithin(requests, 64 * requests.size(), 1'000'000);
  EXPECT_EQ(packing.fit, Fit::Unknown);
  EXPECT_EQ(packing.nodes, 0U);
  EXPECT_EQ(packWithin(requests, 64 * requests.size() - 1, 1'000'000).fit, Fit::None);
}

TEST(Pack, NothingFitsAnywhere) {
  EXPECT_EQ(packWithin({}, 0, 100).fit, Fit::Found);
  const std::vector<Request> one{{64, 0, 3}};
  EXPECT_EQ(packWithin(one, 63, 100).fit, Fit::None);
  EXPECT_EQ(packWithin(one, 64, 100).fit, Fit::Found);
}

TEST(Pack, PartsThatNothingConnectsAreFoundInAnyNumber) {
  std::vector<Request> requests;
  for (std::uint32_t i = 0; i < 500; ++i) requests.push_back({64, i, i});
  const Packing packing = packWithin(requests, 64, 2'000);
  EXPECT_EQ(packing.fit, Fit::Found);
  EXPECT_EQ(packing.nodes, 500U);
}

}  // namespace
