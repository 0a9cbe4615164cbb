#include "runtime/train/Order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tbem::train {
namespace {

TEST(Shuffled, IsAPermutation) {
  for (const std::int64_t count : {0, 1, 2, 17, 1000}) {
    std::vector<std::int64_t> order = shuffled(3, 5, count);
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(Shuffled, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(shuffled(1, 2, 100), shuffled(1, 2, 100));
  EXPECT_NE(shuffled(1, 2, 100), shuffled(2, 2, 100));
  EXPECT_NE(shuffled(1, 2, 100), shuffled(1, 3, 100));
}

/// Each of the 24 orders of four is as likely: 24 000 draws, chi-square with 23 degrees of freedom below its 99.99 % quantile.
TEST(Shuffled, EveryOrderIsAsLikely) {
  std::map<std::vector<std::int64_t>, double> counts;
  for (std::uint32_t epoch = 0; epoch < 24000; ++epoch) ++counts[shuffled(9, epoch, 4)];
  ASSERT_EQ(counts.size(), 24U);
  double chi = 0;
  for (const auto& [order, count] : counts) chi += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi, 59.0);
}

TEST(Partition, HoldsOutTheShareAndNothingTwice) {
  const Partition parts = partition(4, 1000, 0.25);
  EXPECT_EQ(parts.validation.size(), 250U);
  EXPECT_EQ(parts.train.size(), 750U);
  std::set<std::int64_t> all(parts.train.begin(), parts.train.end());
  all.insert(parts.validation.begin(), parts.validation.end());
  EXPECT_EQ(all.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(parts.train.begin(), parts.train.end()));
}

TEST(Partition, NoneAndAtLeastOne) {
  EXPECT_TRUE(partition(4, 10, 0).validation.empty());
  EXPECT_EQ(partition(4, 10, 0).train.size(), 10U);
  EXPECT_EQ(partition(4, 10, 0.01).validation.size(), 1U);
}

}  // namespace
}  // namespace tbem::train
