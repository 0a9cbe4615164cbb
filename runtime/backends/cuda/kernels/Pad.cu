// pad: each element of the result is one of x or zero.
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

/// Where an element of the result comes from; false: it is a zero.
template <class Index>
__device__ bool comesFrom(const PadShape<Index>& p, Index number, Index& from) {
  bool inside = true;
  from = 0;
#pragma unroll
  for (int d = 0; d < kMostAxes; ++d) {
    if (d < p.rank) {
      const Index rest = quotient(number, p.dims[d]), place = number - rest * p.dims[d].divisor;
      const Index behind = place < p.low[d] ? 0 : place - p.low[d];
      const Index step = p.steps[d].divisor == 1 ? behind : quotient(behind, p.steps[d]);
      inside = inside && place >= p.low[d] && step * p.steps[d].divisor == behind && step < p.length[d];
      from += step * p.from[d];
      number = rest;
    }
  }
  return inside;
}

/// Numbers and f32 of tensors that are not very large have several reads waiting together; the code of others is kept short.
template <class T, class Index>
__device__ void pad(const PadShape<Index>& p, const T* x, T* y) {
  constexpr int kTurns = sizeof(T) == sizeof(float) && sizeof(Index) == sizeof(std::uint32_t) ? kPadded : 1;
#pragma unroll 1
  for (int turn = 0; turn < kPadded; turn += kTurns) {
    const Index first = (static_cast<Index>(blockIdx.x) * kPadded + turn) * kThreads + threadIdx.x;
    T value[kTurns];
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const Index at = first + k * kThreads;
      Index from = 0;
      value[k] = at < p.count && comesFrom(p, at, from) ? x[from] : T{};
    }
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      if (first + k * kThreads < p.count) y[first + k * kThreads] = value[k];
    }
  }
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_PAD(bytes, T, bits, Index)                                                                   \
  extern "C" __global__ void tbem_Pad_##bytes##_##bits(tbem::cuda::PadShape<Index> p, const T* x, T* y) { \
    tbem::cuda::pad(p, x, y);                                                                             \
  }
TBEM_PAD(1, std::uint8_t, 32, std::uint32_t)
TBEM_PAD(1, std::uint8_t, 64, std::uint64_t)
TBEM_PAD(2, std::uint16_t, 32, std::uint32_t)
TBEM_PAD(2, std::uint16_t, 64, std::uint64_t)
TBEM_PAD(4, std::uint32_t, 32, std::uint32_t)
TBEM_PAD(4, std::uint32_t, 64, std::uint64_t)
TBEM_PAD(8, std::uint64_t, 32, std::uint32_t)
TBEM_PAD(8, std::uint64_t, 64, std::uint64_t)
