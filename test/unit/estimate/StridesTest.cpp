// Steps of views against the addresses of their elements, which say by themselves whether there is such a view.
#include "compiler/pytorch/eager/Strides.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace tbem::estimate {
namespace {

/// Of all elements, in row-major order of the axes.
std::vector<std::int64_t> addresses(const Shape& shape, const Strides& strides) {
  std::vector<std::int64_t> all{0};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t base : all) {
      for (std::int64_t i = 0; i < shape[axis]; ++i) next.push_back(base + i * strides[axis]);
    }
    all = std::move(next);
  }
  return all;
}

/// Steps by which the axes meet these addresses in order; none: there are no such steps.
std::optional<Strides> stepsThrough(const Shape& shape, const std::vector<std::int64_t>& wanted) {
  Strides strides(shape.size());
  std::int64_t inner = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = shape[axis] > 1 ? wanted[static_cast<std::size_t>(inner)] - wanted[0] : 0;
    inner *= shape[axis];
  }
  return addresses(shape, strides) == wanted ? std::optional(strides) : std::nullopt;
}

class Random {
public:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine); }
  template <class T>
  void shuffle(T& list) {
    std::ranges::shuffle(list, engine);
  }
  /// Axes whose lengths have this product.
  Shape factors(std::int64_t product) {
    Shape shape;
    while (product > 1) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= product; ++d) {
        if (product % d == 0) divisors.push_back(d);
      }
      shape.push_back(divisors[below(divisors.size())]);
      product /= shape.back();
      if (shape.size() > 6) shape.push_back(std::exchange(product, 1));
    }
    shuffle(shape);
    return shape;
  }

private:
  std::mt19937 engine{17};
};

TEST(Strides, AViewIsThereWhereAddressesSaySo) {
  Random random;
  constexpr std::array<std::int64_t, 6> kProducts{6, 8, 12, 16, 24, 36};
  std::size_t views = 0, copies = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::int64_t product = kProducts[random.below(kProducts.size())];
    const Shape stored = random.factors(product);
    std::vector<std::size_t> order(stored.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (round % 3 != 0) random.shuffle(order);
    Strides strides = permuted(rowMajor(stored), order);
    Shape shape;
    for (const std::size_t axis : order) shape.push_back(stored[axis]);
    if (round % 5 == 0 && !strides.empty()) strides[random.below(strides.size())] *= 2;  // gaps, as a part of a tensor has them
    const Shape to = random.factors(product);
    const std::vector<std::int64_t> wanted = addresses(shape, strides);
    const std::optional<Strides> view = viewedAs(to, shape, strides);
    EXPECT_EQ(view.has_value(), stepsThrough(to, wanted).has_value());
    if (view) {
      EXPECT_EQ(addresses(to, *view), wanted);
    }
    ++(view ? views : copies);
  }
  EXPECT_GT(views, 1000U);
  EXPECT_GT(copies, 500U);
}

TEST(Strides, ExpandedAxesRepeatAnElement) {
  EXPECT_EQ(expandedTo({2, 3, 4}, {3, 1}, {1, 1}), (Strides{0, 1, 0}));
  // Heads that all read one matrix are a batch without a copy; samples that each have one are not.
  EXPECT_TRUE(viewedAs({6, 4, 5}, {2, 3, 4, 5}, {0, 0, 5, 1}).has_value());
  EXPECT_FALSE(viewedAs({6, 4, 5}, {2, 3, 4, 5}, {20, 0, 5, 1}).has_value());
}

TEST(Strides, WhatIsAllocatedKeepsTheOrderWithoutGaps) {
  EXPECT_EQ(denseLike({2, 3, 4, 5}, rowMajor({2, 3, 4, 5})), rowMajor({2, 3, 4, 5}));
  EXPECT_EQ(denseLike({2, 3, 4, 5}, {60, 1, 15, 3}), (Strides{60, 1, 15, 3}));           // channels last
  EXPECT_EQ(denseLike({2, 4, 49, 16}, {9408, 16, 192, 1}), (Strides{3136, 16, 64, 1}));  // heads of a third of a row
  EXPECT_EQ(denseLike({2, 3, 4}, {0, 4, 1}), (Strides{12, 4, 1}));
}

}  // namespace
}  // namespace tbem::estimate
