// The inner loops of per-channel sums: W channels side by side, in each of `images` images `rows` places `stride` elements apart.
// Results are two doubles a lane, out[2 * lane] and out[2 * lane + 1].
//
// Rows are taken in chunks of at most 256, of one image or of several small ones, that stay in the first-level cache: four f32
// accumulators within a chunk, f64 across chunks.
#pragma once

#include <cstdint>

namespace tbem::cpu {

constexpr std::int64_t kChannelChunk = 256;  ///< rows whose sums are f32

/// What a strip of memory gives.
enum class ChannelSum {
  Sum,      ///< sum a, 0
  Moments,  ///< mean of a, sum (a - mean)^2: corrected two-pass, chunks joined by Chan, Golub & LeVeque 1983, equation 1.5
  Gradient  ///< sum a (b - mean), sum a
};

struct StripArguments {
  const void* a = nullptr;  ///< f32, or bf16 where `narrow`
  const void* b = nullptr;
  const float* mean = nullptr;  ///< W of them
  std::int64_t rows = 0, stride = 0;
  double* out = nullptr;
  std::int64_t offset = 0;  ///< elements of a and b before the first
  bool narrow = false;
  std::int64_t images = 1, imageStride = 0;
};

/// Joins, for each of `channels` channels, the moments b of `countB` values into the moments a of `countA`.
inline void joinMoments(double countA, double countB, std::int64_t channels, double* a, const double* b) {
  if (countB == 0) return;
  const double count = countA + countB, share = countB / count, weight = countA * share;
  for (std::int64_t c = 0; c < channels; ++c) {
    const double distance = b[2 * c] - a[2 * c];
    a[2 * c] += distance * share;
    a[2 * c + 1] += b[2 * c + 1] + distance * distance * weight;
  }
}

/// Of `Sum` alone: rows of a wide matrix lie pages apart, and what is read of each should be several cache lines.
constexpr int kWideStrip = 64;

/// Moments of one channel whose `rows` values lie side by side: out[0] the mean, out[1] the sum of squares about it.
void lineMoments(const StripArguments& arguments);

/// Runs the loop for `width` kWideStrip, 16, 8, 4 or 1.
void channelStrip(ChannelSum what, int width, const StripArguments& arguments);

}  // namespace tbem::cpu
