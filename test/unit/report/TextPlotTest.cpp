// Curves and histograms of characters.
#include "runtime/report/Sixel.h"
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

TEST(Sixel, SetsBitsFromAboveAndCountsRuns) {
  // "#": the colour; "?" is no point, and each bit from 1 is the next one below. By hand from the manual.
  Bitmap bitmap(8, 8);
  for (std::size_t x = 1; x < 7; ++x) bitmap.set(x, 0);
  bitmap.set(2, 5);
  bitmap.set(3, 7);
  EXPECT_EQ(sixel(bitmap), "\x1bP0;1q\"1;1;8;8#0;2;20;55;85?@`!4@-???A\x1b\\");
}

TEST(Curve, InPixelsIsBesideItsAxis) {
  const std::vector<double> numbers = {0, 10};
  const PicturedCurve plot = picturedCurve(numbers, {.columns = 1, .lines = 2, .ascii = true}, {3, 4});
  EXPECT_EQ(plot.axis, "10 |\n 0 |\n");
  // One band of six of the eight pixels; the line rises at once, two pixels wide.
  EXPECT_EQ(plot.picture, "\x1b\x37\x1b[2A\x1b[4C\x1bP0;1q\"1;1;3;6#0;2;20;55;85_w~\x1b\\\x1b\x38");
  EXPECT_EQ(picturedCurve({}, {}, {8, 16}).axis, "");
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
