#include "runtime/backends/cpu/ChannelLoops.h"

#include "runtime/backends/cpu/Vector.h"

#include <algorithm>

namespace tbem::cpu {
namespace {

constexpr std::int64_t kChunk = 256;

template <int W> TBEM_INLINE void sumBody(const StripArguments& s) {
  using V = typename Vec<W>::Float;
  double total[W] = {};
  for (std::int64_t first = 0; first < s.rows; first += kChunk) {
    const std::int64_t rows = std::min(kChunk, s.rows - first);
    const float* a = s.a + first * s.stride;
    V sum[4] = {};
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      for (int k = 0; k < 4; ++k) sum[k] += load<W>(a + (r + k) * s.stride);
    }
    for (; r < rows; ++r) sum[0] += load<W>(a + r * s.stride);
    const V all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int i = 0; i < W; ++i) total[i] += static_cast<double>(lane<W>(all, i));
  }
  for (int i = 0; i < W; ++i) s.out[2 * i] = total[i], s.out[2 * i + 1] = 0;
}

template <int W> TBEM_INLINE void momentsBody(const StripArguments& s) {
  using V = typename Vec<W>::Float;
  double result[2 * W] = {};
  for (std::int64_t first = 0; first < s.rows; first += kChunk) {
    const std::int64_t rows = std::min(kChunk, s.rows - first);
    const float* a = s.a + first * s.stride;
    V sum[4] = {};
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      for (int k = 0; k < 4; ++k) sum[k] += load<W>(a + (r + k) * s.stride);
    }
    for (; r < rows; ++r) sum[0] += load<W>(a + r * s.stride);
    const V centre = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / static_cast<float>(rows);
    V distances[4] = {}, squares[4] = {};
    for (r = 0; r + 4 <= rows; r += 4) {
      for (int k = 0; k < 4; ++k) {
        const V d = load<W>(a + (r + k) * s.stride) - centre;
        distances[k] += d, squares[k] += d * d;
      }
    }
    for (; r < rows; ++r) {
      const V d = load<W>(a + r * s.stride) - centre;
      distances[0] += d, squares[0] += d * d;
    }
    const V off = (distances[0] + distances[1]) + (distances[2] + distances[3]);
    const V square = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    const auto count = static_cast<double>(rows);
    for (int i = 0; i < W; ++i) {
      const auto e = static_cast<double>(lane<W>(off, i));
      const double chunk[2] = {static_cast<double>(lane<W>(centre, i)) + e / count, static_cast<double>(lane<W>(square, i)) - e * e / count};
      joinMoments(static_cast<double>(first), result + 2 * i, count, chunk);
    }
  }
  for (int i = 0; i < 2 * W; ++i) s.out[i] = result[i];
}

template <int W> TBEM_INLINE void gradientBody(const StripArguments& s) {
  using V = typename Vec<W>::Float;
  double result[2 * W] = {};
  const V mean = load<W>(s.mean);
  for (std::int64_t first = 0; first < s.rows; first += kChunk) {
    const std::int64_t rows = std::min(kChunk, s.rows - first);
    const float* a = s.a + first * s.stride;
    const float* b = s.b + first * s.stride;
    V products[4] = {}, sums[4] = {};
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      for (int k = 0; k < 4; ++k) {
        const V value = load<W>(a + (r + k) * s.stride);
        sums[k] += value, products[k] += value * (load<W>(b + (r + k) * s.stride) - mean);
      }
    }
    for (; r < rows; ++r) {
      const V value = load<W>(a + r * s.stride);
      sums[0] += value, products[0] += value * (load<W>(b + r * s.stride) - mean);
    }
    const V product = (products[0] + products[1]) + (products[2] + products[3]);
    const V sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int i = 0; i < W; ++i) {
      result[2 * i] += static_cast<double>(lane<W>(product, i)), result[2 * i + 1] += static_cast<double>(lane<W>(sum, i));
    }
  }
  for (int i = 0; i < 2 * W; ++i) s.out[i] = result[i];
}

#define TBEM_WIDTH(W)                                                              \
  TBEM_CLONES void sum##W(const StripArguments& s) { sumBody<W>(s); }              \
  TBEM_CLONES void moments##W(const StripArguments& s) { momentsBody<W>(s); }      \
  TBEM_CLONES void gradient##W(const StripArguments& s) { gradientBody<W>(s); }
TBEM_WIDTH(16)
TBEM_WIDTH(8)
TBEM_WIDTH(4)
TBEM_WIDTH(1)

using Loop = void (*)(const StripArguments&);

Loop loopOf(ChannelSum what, int width) {
  const auto pick = [&](Loop sum, Loop moments, Loop gradient) {
    return what == ChannelSum::Sum ? sum : what == ChannelSum::Moments ? moments : gradient;
  };
  switch (width) {
    case 16: return pick(sum16, moments16, gradient16);
    case 8: return pick(sum8, moments8, gradient8);
    case 4: return pick(sum4, moments4, gradient4);
    default: return pick(sum1, moments1, gradient1);
  }
}

}  // namespace

void channelStrip(ChannelSum what, int width, const StripArguments& arguments) { loopOf(what, width)(arguments); }

}  // namespace tbem::cpu
