// PSNR and SSIM against scikit-image 0.26 (in f64, of the same f32 numbers):
//   peak_signal_noise_ratio(a, b, data_range=width)
//   structural_similarity(a, b, channel_axis=0, gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
//                         data_range=width)
// which is the mean over channels and over the windows that lie in the image, as it leaves 5 pixels at each border out.
#include "runtime/perturb/Summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

namespace tbem::perturb {
namespace {

using Shape = std::vector<std::int64_t>;

/// Pixel (y, x) of channel k: a = ((7 x + 13 y + 5 k) mod 32) / 32, b = a + ((3 x + 5 y + 11 k) mod 16 - 8) / 64, times `scale`.
std::pair<std::vector<float>, std::vector<float>> images(const Shape& shape, float scale) {
  std::vector<float> a, b;
  for (std::int64_t k = 0; k < shape[0]; ++k) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        const float value = static_cast<float>((7 * x + 13 * y + 5 * k) % 32) / 32;
        const float noise = static_cast<float>((3 * x + 5 * y + 11 * k) % 16 - 8) / 64;
        a.push_back(value * scale);
        b.push_back((value + noise) * scale);
      }
    }
  }
  return {a, b};
}

struct Reference {
  Shape shape;
  float scale;
  double width, psnr, ssim;
};

TEST(Quality, IsWhatScikitImageComputes) {
  for (const Reference& reference : {
           Reference{{1, 11, 11}, 1, 1, 22.78172145681188, 0.9658617481563723},
           Reference{{3, 12, 17}, 1, 1, 22.796575193572757, 0.9693900377944068},
           Reference{{3, 32, 32}, 1, 2, 28.819814793801314, 0.9699203371994932},
           Reference{{1, 28, 28}, 255, 255, 22.79509443920783, 0.9696154150821893},
       }) {
    const auto [a, b] = images(reference.shape, reference.scale);
    EXPECT_NEAR(psnr(a, b, reference.width), reference.psnr, 1e-12 * reference.psnr);
    const auto similarity = ssim(a, b, reference.shape, reference.width);
    ASSERT_TRUE(similarity);
    EXPECT_NEAR(*similarity, reference.ssim, 1e-12);
  }
}

TEST(Quality, OfEqualImages) {
  const auto [a, b] = images({3, 12, 12}, 1);
  EXPECT_EQ(psnr(a, a, 1), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(*ssim(a, a, Shape{3, 12, 12}, 1), 1, 1e-12);
  const std::vector<float> flat(144, 0.5F);
  EXPECT_NEAR(*ssim(flat, flat, Shape{1, 12, 12}, 1), 1, 1e-12);
}

TEST(Quality, OnlyImagesOfElevenPixelsOrMoreAreSimilar) {
  const std::vector<float> numbers(3 * 11 * 11, 0.5F);
  EXPECT_TRUE(ssim(numbers, numbers, Shape{3, 11, 11}, 1));
  EXPECT_FALSE(ssim(numbers, numbers, Shape{3, 10, 12}, 1));
  EXPECT_FALSE(ssim(numbers, numbers, Shape{3, 12, 10}, 1));
  EXPECT_FALSE(ssim(numbers, numbers, Shape{363}, 1));
  EXPECT_FALSE(ssim(numbers, numbers, Shape{3, 1, 11, 11}, 1));
}

}  // namespace
}  // namespace tbem::perturb
