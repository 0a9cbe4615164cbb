// Points as texts, there and back, and texts that are none.
#include "runtime/perturb/PointText.h"

#include <gtest/gtest.h>

#include <limits>

namespace tbem::perturb {
namespace {

Point full() {
  Point point;
  point.example = 12;
  point.label = 3;
  point.before = 4;
  point.after = 5;
  point.flopsBefore = 1.0 / 3;
  point.flops = 5e-324;
  point.linf = 0.1;
  point.l2 = 1e308;
  point.decisionsBefore = {1, 0, -1};
  point.decisions = {0, 1, 1};
  point.latencyBefore = 0.1 + 0.2;
  point.latency = 1e-9;
  point.energyBefore = 0.3;
  point.energy = 1e-300;
  point.psnr = 35.123456789012345;
  point.ssim = 0.99999999999999989;
  return point;
}

void expectSame(const Point& got, const Point& put) {
  EXPECT_EQ(got.example, put.example);
  EXPECT_EQ(got.label, put.label);
  EXPECT_EQ(got.before, put.before);
  EXPECT_EQ(got.after, put.after);
  EXPECT_EQ(got.flopsBefore, put.flopsBefore);
  EXPECT_EQ(got.flops, put.flops);
  EXPECT_EQ(got.linf, put.linf);
  EXPECT_EQ(got.l2, put.l2);
  EXPECT_EQ(got.decisionsBefore, put.decisionsBefore);
  EXPECT_EQ(got.decisions, put.decisions);
  EXPECT_EQ(got.latencyBefore, put.latencyBefore);
  EXPECT_EQ(got.latency, put.latency);
  EXPECT_EQ(got.energyBefore, put.energyBefore);
  EXPECT_EQ(got.energy, put.energy);
  EXPECT_EQ(got.psnr, put.psnr);
  EXPECT_EQ(got.ssim, put.ssim);
}

TEST(PointText, ComesBackBitForBit) {
  Point point = full();
  expectSame(pointOf(12, textOf(point)).value(), point);
  point.psnr = std::numeric_limits<double>::infinity();
  point.ssim.reset();
  point.decisions.clear();
  point.label = -1;
  expectSame(pointOf(12, textOf(point)).value(), point);
}

/// As stores have them that are older than the measuring of energy.
TEST(PointText, WithoutEnergy) {
  std::string text = textOf(full());
  text.erase(text.find(",\"energy_before\""), text.find(",\"psnr\"") - text.find(",\"energy_before\""));
  Point point = full();
  point.energyBefore = point.energy = 0;
  expectSame(pointOf(12, text).value(), point);
}

TEST(PointText, OtherTextsAreRefused) {
  const std::string text = textOf(full());
  for (const std::string& wrong : {std::string(), std::string("no JSON"), std::string("[]"), std::string("{}"),
                                   text.substr(0, text.size() - 1), text + "}"}) {
    const auto point = pointOf(12, wrong);
    ASSERT_FALSE(point) << wrong;
    EXPECT_FALSE(point.error().empty());
  }
  std::string other = text;
  other.replace(other.find("\"flops\":"), 8, "\"flips\":");
  EXPECT_NE(pointOf(12, other).error().find("flops"), std::string::npos);
  other = text;
  other.replace(other.find("[1,0,-1]"), 8, "\"a text\"");
  EXPECT_FALSE(pointOf(12, other));
}

}  // namespace
}  // namespace tbem::perturb
