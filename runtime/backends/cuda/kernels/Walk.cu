// Elements of a box from one place to another: permute, slice, concat. Of any type, by its size; 16 bytes at once where they stay
// together.
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

template <class T, class Index>
__device__ void walk(const Walk<Index>& w, const T* x, T* y) {
  auto number = threadNumber<Index>();
  if (number >= w.count) return;
  Index from = w.fromStart, to = w.toStart;
#pragma unroll
  for (int d = 0; d < kMostAxes; ++d) {
    if (d < w.rank) {
      const Index rest = quotient(number, w.dims[d]), place = number - rest * w.dims[d].divisor;
      from += place * w.from[d];
      to += place * w.to[d];
      number = rest;
    }
  }
  y[to] = x[from];
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_WALK(bytes, T, bits, Index)                                                               \
  extern "C" __global__ void tbem_Walk_##bytes##_##bits(tbem::cuda::Walk<Index> w, const T* x, T* y) { \
    tbem::cuda::walk(w, x, y);                                                                         \
  }
TBEM_WALK(1, std::uint8_t, 32, std::uint32_t)
TBEM_WALK(1, std::uint8_t, 64, std::uint64_t)
TBEM_WALK(2, std::uint16_t, 32, std::uint32_t)
TBEM_WALK(2, std::uint16_t, 64, std::uint64_t)
TBEM_WALK(4, std::uint32_t, 32, std::uint32_t)
TBEM_WALK(4, std::uint32_t, 64, std::uint64_t)
TBEM_WALK(8, std::uint64_t, 32, std::uint32_t)
TBEM_WALK(8, std::uint64_t, 64, std::uint64_t)
TBEM_WALK(16, uint4, 32, std::uint32_t)
TBEM_WALK(16, uint4, 64, std::uint64_t)
