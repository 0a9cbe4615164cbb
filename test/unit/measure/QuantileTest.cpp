// Quantiles against numpy.quantile (NumPy 1.24, default method "linear", type 7 of Hyndman & Fan).
#include "runtime/measure/Quantile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tbem::measure {
namespace {

TEST(Quantile, AgreesWithNumPy) {
  const std::vector<double> a = {0.31, 0.12, 4.7, 2.25, 0.12, 9.001, 1.5, 3.3, 0.77, 5.125, 2.0};
  EXPECT_DOUBLE_EQ(quantile(a, 0), 0.12);
  EXPECT_DOUBLE_EQ(quantile(a, 0.05), 0.12);
  EXPECT_DOUBLE_EQ(quantile(a, 0.25), 0.54);
  EXPECT_DOUBLE_EQ(quantile(a, 0.5), 2.0);
  EXPECT_DOUBLE_EQ(quantile(a, 0.9), 5.125);
  EXPECT_DOUBLE_EQ(quantile(a, 0.95), 7.063);
  EXPECT_DOUBLE_EQ(quantile(a, 1), 9.001);
  const std::vector<double> b = {3, 1, 2, 10};
  EXPECT_DOUBLE_EQ(quantile(b, 0.05), 1.15);
  EXPECT_DOUBLE_EQ(median(b), 2.5);
  EXPECT_DOUBLE_EQ(quantile(b, 0.95), 8.949999999999998);
  EXPECT_DOUBLE_EQ(quantile(b, 1.0 / 3), 2.0);
}

TEST(Quantile, OfOneValueAndOfNone) {
  EXPECT_EQ(quantile(std::vector<double>{4}, 0.95), 4);
  EXPECT_TRUE(std::isnan(quantile(std::vector<double>{}, 0.5)));
}

}  // namespace
}  // namespace tbem::measure
