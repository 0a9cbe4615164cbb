// The search for an order against every topological order, on graphs so small that all can be tried.
#include "compiler/lower/order/OrderSearch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace tbem::estimate;

namespace {

using Order = std::vector<std::uint32_t>;

/// The largest sum, by looking at every value at every place.
std::uint64_t peakByDefinition(const OrderProblem& problem, const Order& order) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::uint64_t peak = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::uint64_t sum = problem.workspace[order[i]], made = 0;
    std::set<std::uint64_t> dying;
    for (const OrderProblem::Value& value : problem.values) {
      const std::size_t first = value.maker == kNobody ? 0 : place[value.maker];
      std::size_t last = first;
      for (const std::uint32_t reader : value.readers) last = std::max(last, place[reader]);
      if (value.kept) last = order.size();
      if (value.maker == kNobody && value.readers.empty() && !value.kept) continue;
      if (first <= i && i <= last) sum += value.bytes;
      if (value.maker == order[i]) made += value.bytes;
      if (last == i && value.maker != order[i]) dying.insert(value.bytes);
    }
    if (problem.inPlace[order[i]] && dying.count(made) != 0) sum -= made;
    peak = std::max(peak, sum);
  }
  return peak;
}

bool isTopological(const OrderProblem& problem, const Order& order) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (std::uint32_t op = 0; op < problem.size(); ++op) {
    for (const std::uint32_t later : problem.after[op]) {
      if (place[later] <= place[op]) return false;
    }
  }
  return true;
}

std::uint64_t lowestOfAll(const OrderProblem& problem) {
  Order order(problem.size());
  std::iota(order.begin(), order.end(), 0U);
  std::uint64_t best = ~std::uint64_t{0};
  do {
    if (isTopological(problem, order)) best = std::min(best, peakByDefinition(problem, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

OrderProblem randomProblem(std::mt19937& random, std::uint32_t count) {
  const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  OrderProblem problem;
  problem.after.resize(count);
  for (std::uint32_t op = 0; op < count; ++op) {
    problem.workspace.push_back(below(4) == 0 ? below(30) : 0);
    problem.inPlace.push_back(below(2) == 0);
    OrderProblem::Value value;
    value.bytes = 1 + below(8) * below(8);
    value.maker = below(8) == 0 ? kNobody : op;
    for (std::uint32_t reader = op + 1; reader < count; ++reader) {
      if (below(3) == 0) value.readers.push_back(reader);
    }
    value.kept = below(10) == 0;
    if (value.maker != kNobody) problem.after[op] = value.readers;
    problem.values.push_back(std::move(value));
    if (op + 1 < count && below(8) == 0) problem.after[op].push_back(op + 1 + below(count - op - 1));
  }
  return problem;
}

TEST(OrderSearch, FindsTheLowestPeakOfAllTopologicalOrders) {
  std::mt19937 random(7);
  int better = 0;
  for (int round = 0; round < 400; ++round) {
    const OrderProblem problem = randomProblem(random, 3 + static_cast<std::uint32_t>(random() % 5));
    Order written(problem.size());
    std::iota(written.begin(), written.end(), 0U);
    ASSERT_EQ(peakOf(problem, written), peakByDefinition(problem, written)) << round;
    const Order found = lowerPeak(problem);
    const Order& order = found.empty() ? written : found;
    ASSERT_TRUE(isTopological(problem, order)) << round;
    ASSERT_EQ(peakByDefinition(problem, order), lowestOfAll(problem)) << round;
    better += found.empty() ? 0 : 1;
  }
  EXPECT_GT(better, 40);
}

/// Larger than a window: nothing is promised but that the order is sound and lower, and the same each time.
TEST(OrderSearch, IsNeverWorseAndAlwaysTheSame) {
  std::mt19937 random(11);
  int better = 0;
  for (int round = 0; round < 40; ++round) {
    const OrderProblem problem = randomProblem(random, 60 + static_cast<std::uint32_t>(random() % 100));
    Order written(problem.size());
    std::iota(written.begin(), written.end(), 0U);
    const Order found = lowerPeak(problem);
    EXPECT_EQ(found, lowerPeak(problem));
    if (found.empty()) continue;
    ++better;
    EXPECT_TRUE(isTopological(problem, found)) << round;
    EXPECT_LT(peakByDefinition(problem, found), peakByDefinition(problem, written)) << round;
  }
  EXPECT_GT(better, 20);
}

/// Branches one behind another, of differing widths: a wide one that leaves little is best run before one that leaves much.
TEST(OrderSearch, RunsWideBranchesFirst) {
  OrderProblem problem;
  // 0: input; branch k: 1 + 2 k makes a wide value of it, 2 + 2 k a narrow one of that; the last reads all narrow ones.
  const std::uint64_t wide[] = {10, 60, 100}, narrow[] = {40, 20, 1};
  problem.after = {{1, 3, 5}, {2}, {7}, {4}, {7}, {6}, {7}, {}};
  problem.workspace.assign(8, 0);
  problem.inPlace.assign(8, false);
  problem.values.push_back({8, 0, {1, 3, 5}, false});
  for (std::uint32_t k = 0; k < 3; ++k) {
    problem.values.push_back({wide[k], 1 + 2 * k, {2 + 2 * k}, false});
    problem.values.push_back({narrow[k], 2 + 2 * k, {7}, false});
  }
  Order written(8);
  std::iota(written.begin(), written.end(), 0U);
  EXPECT_EQ(peakOf(problem, written), 8U + 40 + 20 + 100);
  EXPECT_EQ(peakOf(problem, lowerPeak(problem)), 8U + 100 + 1);
}

}  // namespace
