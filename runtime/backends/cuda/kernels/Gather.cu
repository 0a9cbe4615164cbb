// gather, of elements of any type by their size, and constant.
#include "runtime/backends/cuda/kernels/Report.cuh"
#include "runtime/backends/cuda/kernels/Shape.cuh"
#include "tbem/backend.h"

namespace tbem::cuda {
namespace {

template <class T, class Index>
__device__ void gather(const GatherShape<Index>& g, const T* x, T* y) {
  const auto at = threadNumber<Index>();
  if (at >= g.count) return;
  const Index line = quotient(at, g.inner), k = at - line * g.inner.divisor;
  const Index outer = quotient(line, g.numbers), place = line - outer * g.numbers.divisor;
  const std::int64_t number = g.index[place];
  if (number < 0 || static_cast<std::uint64_t>(number) >= g.length) {
    if (k == 0 && outer == 0) report(g.word, TBEM_PRIMITIVE_gather, place);
    y[at] = T{};
    return;
  }
  y[at] = x[(outer * g.length + static_cast<Index>(number)) * g.inner.divisor + k];
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_GATHER(bytes, T, bits, Index)                                                                      \
  extern "C" __global__ void tbem_Gather_##bytes##_##bits(tbem::cuda::GatherShape<Index> g, const T* x, T* y) { \
    tbem::cuda::gather(g, x, y);                                                                                \
  }
TBEM_GATHER(1, std::uint8_t, 32, std::uint32_t)
TBEM_GATHER(1, std::uint8_t, 64, std::uint64_t)
TBEM_GATHER(2, std::uint16_t, 32, std::uint32_t)
TBEM_GATHER(2, std::uint16_t, 64, std::uint64_t)
TBEM_GATHER(4, std::uint32_t, 32, std::uint32_t)
TBEM_GATHER(4, std::uint32_t, 64, std::uint64_t)
TBEM_GATHER(8, std::uint64_t, 32, std::uint32_t)
TBEM_GATHER(8, std::uint64_t, 64, std::uint64_t)
TBEM_GATHER(16, uint4, 32, std::uint32_t)
TBEM_GATHER(16, uint4, 64, std::uint64_t)

extern "C" __global__ void tbem_Gather_constant(const __grid_constant__ tbem::cuda::Values values, float* y,
                                                std::uint32_t count) {
  const auto at = tbem::cuda::threadNumber<std::uint32_t>();
  if (at < count) y[at] = values.values[at];
}
