// The inner loops of per-channel sums: W channels side by side, `rows` places `stride` floats apart. Results are two doubles a
// lane, out[2 * lane] and out[2 * lane + 1].
//
// Rows are taken in chunks of 256 that stay in the first-level cache: four f32 accumulators within a chunk, f64 across chunks.
#pragma once

#include <cstdint>

namespace tbem::cpu {

/// What a strip of memory gives.
enum class ChannelSum {
  Sum,       ///< sum a, 0
  Moments,   ///< mean of a, sum (a - mean)^2: corrected two-pass, chunks joined by Chan, Golub & LeVeque 1983, equation 1.5
  Gradient   ///< sum a (b - mean), sum a
};

struct StripArguments {
  const float* a = nullptr;
  const float* b = nullptr;
  const float* mean = nullptr;   ///< W of them
  std::int64_t rows = 0, stride = 0;
  double* out = nullptr;
};

/// Joins the moments of `countB` values into those of `countA`.
inline void joinMoments(double countA, double* a, double countB, const double* b) {
  if (countB == 0) return;
  const double count = countA + countB, distance = b[0] - a[0];
  a[0] += distance * (countB / count);
  a[1] += b[1] + distance * distance * (countA * countB / count);
}

/// Runs the loop for `width` 16, 8, 4 or 1.
void channelStrip(ChannelSum what, int width, const StripArguments& arguments);

}  // namespace tbem::cpu
