// softmax and log_softmax along an axis, and their gradients, of elements of type T, which are computed with in f32.
#pragma once

#include "runtime/backends/cuda/kernels/Lines.cuh"

namespace tbem::cuda {
namespace {

struct Add {
  static __device__ double join(double a, double b) { return a + b; }
};
struct Larger {
  static __device__ float join(float a, float b) { return larger(a, b); }
};

template <bool kLogarithm>
__device__ float resultOf(float shifted, float logarithm, float share) {
  return kLogarithm ? shifted - logarithm : expf(shifted) * share;
}

template <bool kLogarithm, class Index, class T>
__device__ void softmax(const LineShape<Index>& shape, const T* x, T* y) {
  const Line<Index> line(shape);
  const Normaliser::Sum sum = joinDown<Normaliser>(shape.tile, line.place, Normaliser::of(shape, line, x, false));
  const float logarithm = kLogarithm ? Normaliser::logarithm(sum) : 0;
  const float share = kLogarithm ? 0 : static_cast<float>(1 / sum.exponentials);
  forElements(
      shape, line, [&](Index at) { return asFloat(x[at]); },
      [&](Index at, Index, float value) { y[at] = rounded<T>(resultOf<kLogarithm>(value - sum.largest, logarithm, share)); });
}

struct Pair {
  float dy, y;
};

template <bool kLogarithm>
__device__ double termOf(const Pair& pair) {
  return kLogarithm ? static_cast<double>(pair.dy) : static_cast<double>(pair.dy) * static_cast<double>(pair.y);
}
template <bool kLogarithm>
__device__ float gradientOf(const Pair& pair, double sum) {
  const auto own = static_cast<double>(pair.dy);
  return static_cast<float>(kLogarithm ? own - static_cast<double>(expf(pair.y)) * sum
                                       : static_cast<double>(pair.y) * (own - sum));
}

template <bool kLogarithm, class Index, class T>
__device__ void gradient(const LineShape<Index>& shape, const T* dy, const T* y, T* dx) {
  const Line<Index> line(shape);
  const auto load = [&](Index at) { return Pair{asFloat(dy[at]), asFloat(y[at])}; };
  double sum = 0;
  forElements(shape, line, load, [&](Index, Index, const Pair& pair) { sum += termOf<kLogarithm>(pair); });
  sum = joinDown<Add>(shape.tile, line.place, sum);
  forElements(shape, line, load,
              [&](Index at, Index, const Pair& pair) { dx[at] = rounded<T>(gradientOf<kLogarithm>(pair, sum)); });
}

constexpr int kLanes = 32;

/// Rows of at most kLanes * kEach elements, each in the registers of a warp: read once.
template <bool kLogarithm, int kEach, class T>
__device__ void softmaxOfWarps(const LineShape<std::uint32_t>& shape, const T* x, T* y) {
  const Line<std::uint32_t> line(shape);
  const std::uint32_t lane = line.place.down, length = line.inside ? shape.length : 0;
  float value[kEach];
  float largest = -INFINITY;
#pragma unroll
  for (int k = 0; k < kEach; ++k) value[k] = lane + k * kLanes < length ? asFloat(x[line.first + lane + k * kLanes]) : -INFINITY;
#pragma unroll
  for (int k = 0; k < kEach; ++k) largest = larger(largest, value[k]);
  largest = joinDown<Larger>(shape.tile, line.place, largest);
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    float some = 0;
#pragma unroll
    for (int j = k; j < k + 4; ++j) {
      const float shifted = value[j] - largest, exponential = lane + j * kLanes < length ? expf(shifted) : 0;
      some += exponential;
      value[j] = kLogarithm ? shifted : exponential;
    }
    sum += static_cast<double>(some);
  }
  sum = joinDown<Add>(shape.tile, line.place, sum);
  const float logarithm = kLogarithm ? log1pf(static_cast<float>(sum - 1)) : 0;
  const float share = kLogarithm ? 0 : static_cast<float>(1 / sum);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    if (lane + k * kLanes < length)
      y[line.first + lane + k * kLanes] = rounded<T>(kLogarithm ? value[k] - logarithm : value[k] * share);
  }
}

template <bool kLogarithm, int kEach, class T>
__device__ void gradientOfWarps(const LineShape<std::uint32_t>& shape, const T* dy, const T* y, T* dx) {
  const Line<std::uint32_t> line(shape);
  const std::uint32_t lane = line.place.down, length = line.inside ? shape.length : 0;
  Pair pair[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const std::uint32_t at = line.first + lane + k * kLanes;
    pair[k] = lane + k * kLanes < length ? Pair{asFloat(dy[at]), asFloat(y[at])} : Pair{0, 0};
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kEach; ++k) sum += termOf<kLogarithm>(pair[k]);
  sum = joinDown<Add>(shape.tile, line.place, sum);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    if (lane + k * kLanes < length) dx[line.first + lane + k * kLanes] = rounded<T>(gradientOf<kLogarithm>(pair[k], sum));
  }
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_SOFTMAX_OF_LINES(file, T, name, logarithm, bits, Index)                                              \
  extern "C" __global__ void __launch_bounds__(tbem::cuda::kMostThreads)                                          \
      tbem_##file##_##name##_##bits(tbem::cuda::LineShape<Index> shape, const T* x, T* y) {                       \
    tbem::cuda::softmax<logarithm>(shape, x, y);                                                                  \
  }                                                                                                               \
  extern "C" __global__ void __launch_bounds__(tbem::cuda::kMostThreads)                                          \
      tbem_##file##_##name##Gradient_##bits(tbem::cuda::LineShape<Index> shape, const T* dy, const T* y, T* dx) { \
    tbem::cuda::gradient<logarithm>(shape, dy, y, dx);                                                            \
  }
#define TBEM_SOFTMAX_OF_WARPS(file, T, name, logarithm, each)                                                                    \
  extern "C" __global__ void tbem_##file##_##name##Warps_##each(tbem::cuda::LineShape<std::uint32_t> shape, const T* x, T* y) {  \
    tbem::cuda::softmaxOfWarps<logarithm, each>(shape, x, y);                                                                    \
  }                                                                                                                              \
  extern "C" __global__ void tbem_##file##_##name##GradientWarps_##each(tbem::cuda::LineShape<std::uint32_t> shape, const T* dy, \
                                                                        const T* y, T* dx) {                                     \
    tbem::cuda::gradientOfWarps<logarithm, each>(shape, dy, y, dx);                                                              \
  }
#define TBEM_SOFTMAX_KERNELS(file, T, name, logarithm)               \
  TBEM_SOFTMAX_OF_LINES(file, T, name, logarithm, 32, std::uint32_t) \
  TBEM_SOFTMAX_OF_LINES(file, T, name, logarithm, 64, std::uint64_t) \
  TBEM_SOFTMAX_OF_WARPS(file, T, name, logarithm, 8)                 \
  TBEM_SOFTMAX_OF_WARPS(file, T, name, logarithm, 32)

/// The kernels of elements of type T, tbem_FILE_NAME.. of each: a file for each type, of which a card loads those that it runs.
#define TBEM_SOFTMAX(file, T)                 \
  TBEM_SOFTMAX_KERNELS(file, T, plain, false) \
  TBEM_SOFTMAX_KERNELS(file, T, log, true)
