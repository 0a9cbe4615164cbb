// permute where the innermost axis changes.
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

/// A square of each matrix through shared memory, so that x is read and y is written along their rows.
template <class T, class Index>
__device__ void turn(const TurnShape<Index>& t, const T* x, T* y) {
  __shared__ T square[kSquare][kSquare + 1];
  constexpr int kTogether = kThreads / kSquare;
  auto number = static_cast<Index>(blockIdx.x);
  const Index others = quotient(number, t.across);
  const Index left = (number - others * t.across.divisor) * kSquare;
  number = quotient(others, t.down);
  const Index top = (others - number * t.down.divisor) * kSquare;
  const Index from = offsetOf(t.from, number), to = offsetOf(t.to, number);
  const int column = static_cast<int>(threadIdx.x) % kSquare, first = static_cast<int>(threadIdx.x) / kSquare;
#pragma unroll
  for (int k = 0; k < kSquare; k += kTogether) {
    const int row = first + k;
    if (top + row < t.rows && left + column < t.columns) square[row][column] = x[from + (top + row) * t.rowStep + left + column];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kSquare; k += kTogether) {
    const int row = first + k;  // of y: a column of x
    if (left + row < t.columns && top + column < t.rows) y[to + (left + row) * t.columnStep + top + column] = square[column][row];
  }
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_TURN(bytes, T, bits, Index)                                                                    \
  extern "C" __global__ void tbem_Turn_##bytes##_##bits(tbem::cuda::TurnShape<Index> t, const T* x, T* y) { \
    tbem::cuda::turn(t, x, y);                                                                              \
  }
TBEM_TURN(1, std::uint8_t, 32, std::uint32_t)
TBEM_TURN(1, std::uint8_t, 64, std::uint64_t)
TBEM_TURN(2, std::uint16_t, 32, std::uint32_t)
TBEM_TURN(2, std::uint16_t, 64, std::uint64_t)
TBEM_TURN(4, std::uint32_t, 32, std::uint32_t)
TBEM_TURN(4, std::uint32_t, 64, std::uint64_t)
TBEM_TURN(8, std::uint64_t, 32, std::uint32_t)
TBEM_TURN(8, std::uint64_t, 64, std::uint64_t)
