#include "compiler/design/field/Hadamard.h"

#include <gtest/gtest.h>

using namespace tbem::design;

namespace {

/// H H^T = n I, product by product.
void expectOrthogonal(std::uint32_t order) {
  const auto h = hadamard(order);
  ASSERT_TRUE(h.has_value()) << order;
  ASSERT_EQ(h->cells.size(), std::size_t{order} * order);
  for (std::uint32_t a = 0; a < order; ++a) {
    for (std::uint32_t b = 0; b <= a; ++b) {
      int sum = 0;
      for (std::uint32_t c = 0; c < order; ++c) sum += h->at(a, c) * h->at(b, c);
      ASSERT_EQ(sum, a == b ? static_cast<int>(order) : 0) << order << ", " << h->construction << ", rows " << a << ", " << b;
    }
    for (std::uint32_t c = 0; c < order; ++c) ASSERT_TRUE(h->at(a, c) == 1 || h->at(a, c) == -1);
  }
}

}  // namespace

TEST(Hadamard, AllOrdersUpTo400) {
  for (std::uint32_t order = 4; order <= 400; order += 4) expectOrthogonal(order);
}

// Products, both of Paley, and Sylvester's.
TEST(Hadamard, LargerOrders) {
  for (const std::uint32_t order : {516U, 520U, 644U, 1024U}) expectOrthogonal(order);
}

TEST(Hadamard, OthersAreRefused) {
  // No Hadamard matrix of order 668 is known; other orders than 1, 2 and multiples of 4 have none.
  for (const std::uint32_t order : {0U, 3U, 6U, 90U, 668U, 1028U}) {
    EXPECT_FALSE(hadamardReaches(order)) << order;
    EXPECT_FALSE(hadamard(order).has_value()) << order;
    EXPECT_EQ(hadamardConstruction(order), "");
  }
}
