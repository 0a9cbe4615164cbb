// Numbers of elements to offsets, and the places of threads.
#pragma once

#include "runtime/backends/cuda/device/Parameters.h"

namespace tbem::cuda {

inline __device__ std::uint32_t quotient(std::uint32_t number, const Divider<std::uint32_t>& by) {
  return (__umulhi(number, by.factor) + number) >> by.shift;
}
inline __device__ std::uint64_t quotient(std::uint64_t number, const Divider<std::uint64_t>& by) { return number / by.divisor; }

/// Offset of the number-th combination of the axes. Unrolled, so that parameters are read where they lie.
template <class Index, int Most>
__device__ Index offsetOf(const Axes<Index, Most>& axes, Index number) {
  Index offset = 0;
#pragma unroll
  for (int d = 0; d < Most; ++d) {
    if (d < axes.rank) {
      const Index rest = quotient(number, axes.dims[d]);
      offset += (number - rest * axes.dims[d].divisor) * axes.strides[d];
      number = rest;
    }
  }
  return offset;
}

/// Turns of a loop over elements that are taken together, so that their loads wait together. Large tensors are rare, and code of
/// 64 bits is long.
template <class Index>
constexpr int kUnrolled = sizeof(Index) == sizeof(std::uint32_t) ? 4 : 1;

/// The number of this thread among all.
template <class Index>
__device__ Index threadNumber() {
  return static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
}

/// This thread's place in its tile.
struct Place {
  int across, down, depth, width;

  __device__ explicit Place(const Tile& tile) : depth(1 << tile.logDepth), width(kThreads >> tile.logDepth) {
    const int thread = static_cast<int>(threadIdx.x);
    across = tile.columns != 0 ? thread & (width - 1) : thread >> tile.logDepth;
    down = tile.columns != 0 ? thread / width : thread & (depth - 1);
  }
};

/// Joins the sums of the threads down a tile, always in the same order; all of them get the result. `What::join(a, b)`.
template <class What, class Sum>
__device__ Sum joinDown(const Tile& tile, const Place& place, Sum sum) {
  __shared__ Sum sums[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int step = tile.columns != 0 ? place.width : 1;
  const bool inWarp = tile.columns == 0 && place.depth <= 32;
  sums[thread] = sum;
  for (int half = place.depth / 2; half > 0; half /= 2) {
    if (inWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
    if (place.down < half) sums[thread] = sum = What::join(sum, sums[thread + half * step]);
  }
  if (inWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  return sums[thread - place.down * step];
}

}  // namespace tbem::cuda
