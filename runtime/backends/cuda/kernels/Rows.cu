// split_rows, move_rows: rows of samples behind gates.
#include "runtime/backends/cuda/kernels/Report.cuh"
#include "runtime/backends/cuda/kernels/Shape.cuh"
#include "tbem/backend.h"

namespace tbem::cuda {
namespace {

/// Rows that are not a sample's are left alone.
template <class T, class Index>
__device__ void moveRows(const MoveRows<Index>& m, const T* x, T* y) {
  const auto number = threadNumber<Index>();
  if (number >= m.count) return;
  const Index i = quotient(number, m.pieces), piece = number - i * m.pieces.divisor;
  if (static_cast<std::int64_t>(i) >= (m.from != nullptr ? m.from : m.to)[0]) return;
  const std::int64_t from = m.from != nullptr ? m.from[1 + i] : i, to = m.to != nullptr ? m.to[1 + i] : i;
  if (from < 0 || from >= m.samples || to < 0 || to >= m.samples) {
    if (piece == 0) report(m.word, TBEM_PRIMITIVE_move_rows, i);
    return;
  }
  y[static_cast<Index>(to) * m.pieces.divisor + piece] = x[static_cast<Index>(from) * m.pieces.divisor + piece];
}

}  // namespace
}  // namespace tbem::cuda

/// One block, in whose order the lists are written.
extern "C" __global__ void tbem_Rows_split(tbem::cuda::SplitOperands of) {
  using tbem::cuda::kThreads;
  constexpr int kWarps = kThreads / 32;
  __shared__ int chosenOf[kWarps];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const std::int64_t count = of.origin != nullptr && of.origin[0] < of.samples ? of.origin[0] : of.samples;
  std::int64_t chosen = 0;  // before this round
  for (std::int64_t first = 0; first < count; first += kThreads) {
    const std::int64_t i = first + thread;
    const bool inside = i < count, takes = inside && of.condition[i] != 0;
    const unsigned together = __ballot_sync(0xFFFFFFFFU, takes);
    if (lane == 0) chosenOf[warp] = __popc(together);
    __syncthreads();
    int before = __popc(together & ((1U << lane) - 1)), all = 0;
    for (int other = 0; other < kWarps; ++other) {
      before += other < warp ? chosenOf[other] : 0;
      all += chosenOf[other];
    }
    __syncthreads();
    if (inside) {
      const std::int64_t at = 1 + (takes ? chosen + before : first - chosen + thread - before);
      (takes ? of.chosen : of.others)[at] = i;
      if (of.origin != nullptr) (takes ? of.chosenOrigin : of.othersOrigin)[at] = of.origin[1 + i];
    }
    chosen += all;
  }
  if (thread >= 2) return;
  const std::int64_t size = thread == 0 ? chosen : count - chosen;
  (thread == 0 ? of.chosen : of.others)[0] = size;
  if (of.origin != nullptr) (thread == 0 ? of.chosenOrigin : of.othersOrigin)[0] = size;
}

#define TBEM_ROWS(bytes, T, bits, Index)                                                                   \
  extern "C" __global__ void tbem_Rows_##bytes##_##bits(tbem::cuda::MoveRows<Index> m, const T* x, T* y) { \
    tbem::cuda::moveRows(m, x, y);                                                                         \
  }
TBEM_ROWS(1, std::uint8_t, 32, std::uint32_t)
TBEM_ROWS(1, std::uint8_t, 64, std::uint64_t)
TBEM_ROWS(2, std::uint16_t, 32, std::uint32_t)
TBEM_ROWS(2, std::uint16_t, 64, std::uint64_t)
TBEM_ROWS(4, std::uint32_t, 32, std::uint32_t)
TBEM_ROWS(4, std::uint32_t, 64, std::uint64_t)
TBEM_ROWS(8, std::uint64_t, 32, std::uint32_t)
TBEM_ROWS(8, std::uint64_t, 64, std::uint64_t)
TBEM_ROWS(16, uint4, 32, std::uint32_t)
TBEM_ROWS(16, uint4, 64, std::uint64_t)
