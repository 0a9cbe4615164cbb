// Numbers of elements to offsets, and the places of threads.
#pragma once

#include "runtime/backends/cuda/device/Parameters.h"

namespace tbem::cuda {

inline __device__ std::uint32_t quotient(std::uint32_t number, const Divider<std::uint32_t>& by) {
  return (__umulhi(number, by.factor) + number) >> by.shift;
}
inline __device__ std::uint64_t quotient(std::uint64_t number, const Divider<std::uint64_t>& by) { return number / by.divisor; }

/// Offset of the number-th combination of the axes, of which there are at most `kUsed`. Unrolled, so that parameters are read
/// where they lie.
template <int kUsed, class Index, int Most>
__device__ Index offsetOf(const Axes<Index, Most>& axes, Index number) {
  Index offset = 0;
#pragma unroll
  for (int d = 0; d < kUsed; ++d) {
    if (d < axes.rank) {
      const Index rest = quotient(number, axes.dims[d]);
      offset += (number - rest * axes.dims[d].divisor) * axes.strides[d];
      number = rest;
    }
  }
  return offset;
}

template <class Index, int Most>
__device__ Index offsetOf(const Axes<Index, Most>& axes, Index number) {
  return offsetOf<Most>(axes, number);
}

/// Turns of a loop over elements that are taken together, so that their loads wait together. Large tensors are rare, and code of
/// 64 bits is long.
template <class Index>
constexpr int kUnrolled = sizeof(Index) == sizeof(std::uint32_t) ? 8 : 1;

/// The number of this thread among all.
template <class Index>
__device__ Index threadNumber() {
  return static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
}

/// This thread's place in its tile.
struct Place {
  int across, down, depth, width;

  __device__ explicit Place(const Tile& tile) : depth(1 << tile.logDepth), width(static_cast<int>(blockDim.x) >> tile.logDepth) {
    const int thread = static_cast<int>(threadIdx.x);
    across = tile.columns != 0 ? thread & (width - 1) : thread >> tile.logDepth;
    down = tile.columns != 0 ? thread / width : thread & (depth - 1);
  }
};

/// The value of the lane whose number differs in the bits of `mask`.
template <class T>
__device__ T exchanged(T value, int mask) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0);
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
#pragma unroll
  for (unsigned& word : words) word = __shfl_xor_sync(0xFFFFFFFFU, word, mask);
  memcpy(&value, words, sizeof value);
  return value;
}

/// Joins the sums of the threads down a tile, always in the same order; all of them get the result. `What::join(a, b)` must not
/// care which comes first. All threads of a block take part, with a barrier between two calls.
template <class What, class Sum>
__device__ Sum joinDown(const Tile& tile, const Place& place, Sum sum) {
  constexpr int kLanes = 32;
  __shared__ Sum sums[kThreads];  // of a warp for each result that it has a part of
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (tile.columns == 0) {
    for (int mask = (place.depth < kLanes ? place.depth : kLanes) / 2; mask > 0; mask /= 2)
      sum = What::join(sum, exchanged(sum, mask));
    if (place.depth <= kLanes) return sum;
    if (thread % kLanes == 0) sums[thread / kLanes] = sum;
    __syncthreads();
    const int warps = place.depth / kLanes;  // at most as many as lanes
    sum = sums[place.across * warps + thread % warps];
    for (int mask = warps / 2; mask > 0; mask /= 2) sum = What::join(sum, exchanged(sum, mask));
    return sum;
  }
  for (int mask = place.width; mask < kLanes; mask *= 2) sum = What::join(sum, exchanged(sum, mask));
  if (place.depth == 1) return sum;
  const int parts = place.width < kLanes ? threads / kLanes : place.depth;  // of each result
  if (place.width >= kLanes || thread % kLanes < place.width) sums[thread / (threads / parts) * place.width + place.across] = sum;
  __syncthreads();
  sum = sums[place.across];
  for (int part = 1; part < parts; ++part) sum = What::join(sum, sums[part * place.width + place.across]);
  return sum;
}

}  // namespace tbem::cuda
