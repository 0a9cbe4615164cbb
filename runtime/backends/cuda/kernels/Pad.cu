// pad: each element of the result is one of x or zero.
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

template <class T, class Index>
__device__ void pad(const PadShape<Index>& p, const T* x, T* y) {
  const auto at = threadNumber<Index>();
  if (at >= p.count) return;
  Index number = at, from = 0;
  bool inside = true;
#pragma unroll
  for (int d = 0; d < kMostAxes; ++d) {
    if (d < p.rank) {
      const Index rest = quotient(number, p.dims[d]), place = number - rest * p.dims[d].divisor;
      const Index behind = place < p.low[d] ? 0 : place - p.low[d], step = quotient(behind, p.steps[d]);
      inside = inside && place >= p.low[d] && step * p.steps[d].divisor == behind && step < p.length[d];
      from += step * p.from[d];
      number = rest;
    }
  }
  y[at] = inside ? x[from] : T{};
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
