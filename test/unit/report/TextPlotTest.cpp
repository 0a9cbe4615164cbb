// Curves and histograms of characters.
#include "runtime/report/TextPlot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tbem::report {
namespace {

TEST(Curve, AscendsFromBelowToAbove) {
  const std::vector<double> numbers = {0, 1, 2, 3};
  EXPECT_EQ(curve(numbers, {.columns = 4, .lines = 4, .ascii = true}),
            "3 |   *\n"
            "  |  *\n"
            "  | *\n"
            "0 |*\n");
}

TEST(Curve, BraillePointsFollowUnicode) {
  // Two points beside, four above each other: the left one is the lowest (dot 7, bit 6), and at the right the line rises from
  // above it to the highest (dots 6, 5, 4, bits 5, 4, 3): 64 + 32 + 16 + 8.
  const std::vector<double> numbers = {0, 1};
  EXPECT_EQ(curve(numbers, {.columns = 1, .lines = 1}), "1 │\u2878\n");
}

TEST(Curve, LeavesOutWhatIsNotFinite) {
  const std::vector<double> numbers = {0, NAN, 2, INFINITY};
  EXPECT_EQ(curve(numbers, {.columns = 4, .lines = 3, .ascii = true}), "2 |  *\n  |\n0 |*\n");
  EXPECT_EQ(curve(std::vector<double>{NAN}, {}), "");
  EXPECT_EQ(curve({}, {}), "");
}

TEST(Curve, RangeBeyondADouble) {
  const double most = std::numeric_limits<double>::max();
  const std::vector<double> numbers = {-most, most};
  EXPECT_EQ(curve(numbers, {.columns = 2, .lines = 2, .ascii = true}), " 1.798e+308 | *\n-1.798e+308 |*\n");
}

TEST(Histogram, CountsEachNumberOnce) {
  const std::vector<double> numbers = {0, 0.1, 0.5, 0.9, 1, 1, NAN};
  EXPECT_EQ(histogram(numbers, {.columns = 4, .lines = 2, .ascii = true}),
            "  0 |## 2\n"
            "0.5 |#### 4\n"
            "1 not finite\n");
}

TEST(Histogram, OneValue) {
  EXPECT_EQ(histogram(std::vector<double>{3, 3}, {.columns = 4, .lines = 5, .ascii = true}), "3 |#### 2\n");
  EXPECT_EQ(histogram({}, {}), "");
}

}  // namespace
}  // namespace tbem::report
