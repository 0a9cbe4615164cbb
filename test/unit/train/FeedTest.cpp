#include "runtime/train/Feed.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tbem::train {
namespace {

constexpr std::int64_t kShape[] = {2, 3, 4};

std::vector<float> image() {
  std::vector<float> pixels(24);
  std::iota(pixels.begin(), pixels.end(), 1.0F);
  return pixels;
}

std::vector<float> augmented(const Augmentation& how, std::int64_t example, std::uint32_t epoch = 0) {
  std::vector<float> pixels = image();
  augment(how, 1, epoch, example, kShape, pixels.data());
  return pixels;
}

std::vector<float> mirrored() {
  std::vector<float> pixels = image(), out(24);
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t x = 0; x < 4; ++x) out[row * 4 + x] = pixels[row * 4 + 3 - x];
  }
  return out;
}

TEST(Augment, FlipMirrorsHalfOfTheExamples) {
  int flipped = 0;
  for (std::int64_t example = 0; example < 1000; ++example) {
    const std::vector<float> pixels = augmented({.flip = true}, example);
    const bool same = pixels == image();
    EXPECT_TRUE(same || pixels == mirrored());
    flipped += same ? 0 : 1;
  }
  EXPECT_GT(flipped, 430);
  EXPECT_LT(flipped, 570);
}

/// Every pixel of a crop is one of the image moved by the same offset, or a zero from outside it.
TEST(Augment, CropMovesTheImageAndFillsWithZeros) {
  bool moved[3][3] = {};
  for (std::int64_t example = 0; example < 400; ++example) {
    const std::vector<float> pixels = augmented({.crop = 1}, example);
    bool found = false;
    for (int down = -1; down <= 1 && !found; ++down) {
      for (int right = -1; right <= 1 && !found; ++right) {
        std::vector<float> expected(24);
        for (int c = 0; c < 2; ++c) {
          for (int y = 0; y < 3; ++y) {
            for (int x = 0; x < 4; ++x) {
              const int fy = y + down, fx = x + right;
              const bool inside = fy >= 0 && fy < 3 && fx >= 0 && fx < 4;
              expected[static_cast<std::size_t>((c * 3 + y) * 4 + x)] =
                  inside ? image()[static_cast<std::size_t>((c * 3 + fy) * 4 + fx)] : 0;
            }
          }
        }
        found = pixels == expected;
        if (found) moved[down + 1][right + 1] = true;
      }
    }
    EXPECT_TRUE(found) << example;
  }
  for (const auto& row : moved) {
    for (const bool each : row) EXPECT_TRUE(each);
  }
}

TEST(Augment, IsTheSameForTheSameEpochAndAnotherInTheNext) {
  const Augmentation how{.flip = true, .crop = 1};
  int differ = 0;
  for (std::int64_t example = 0; example < 50; ++example) {
    EXPECT_EQ(augmented(how, example), augmented(how, example));
    differ += augmented(how, example, 0) == augmented(how, example, 1) ? 0 : 1;
  }
  EXPECT_GT(differ, 30);
}

}  // namespace
}  // namespace tbem::train
