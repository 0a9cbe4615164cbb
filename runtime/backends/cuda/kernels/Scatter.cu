// gather_gradient: the same order of what is added to each row, whatever the threads do. The numbers are sorted with their places
// (bitonic networks: Batcher 1968; no two keys are equal), then each element of dx sums its own, in the order of dy where they
// are few.
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Report.cuh"
#include "runtime/backends/cuda/kernels/Shape.cuh"
#include "tbem/backend.h"

namespace tbem::cuda {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};  ///< behind all keys

/// Exchanges of a network: pairs `distance` apart, in runs of `run` that ascend and descend in turn. `begin`: where `keys` begin.
__device__ void exchange(std::uint64_t* keys, std::uint32_t begin, std::uint32_t pair, std::uint32_t run,
                         std::uint32_t distance) {
  const std::uint32_t low = 2 * pair - (pair & (distance - 1)), high = low + distance;
  const bool ascends = ((begin + low) & run) == 0;
  const std::uint64_t a = keys[low], b = keys[high];
  if ((a > b) == ascends) keys[low] = b, keys[high] = a;
}

/// Keys of a block, of which there may be fewer than it has room for.
__device__ std::uint32_t together(const ScatterOrder& order) {
  return order.room < kSortedTogether ? order.room : kSortedTogether;
}

/// All exchanges of a run that stay within a block's keys.
__device__ void exchangeTogether(std::uint64_t* keys, std::uint32_t size, std::uint32_t begin, std::uint32_t run,
                                 std::uint32_t farthest) {
  for (std::uint32_t distance = farthest; distance > 0; distance /= 2) {
    __syncthreads();
    for (std::uint32_t pair = threadIdx.x; pair < size / 2; pair += kThreads) exchange(keys, begin, pair, run, distance);
  }
}

__device__ std::uint64_t keyOf(const ScatterOrder& order, std::uint32_t place) {
  if (place >= order.numbers) return kNone;
  const std::int64_t number = order.index[place];
  if (number < 0 || static_cast<std::uint64_t>(number) >= order.length) {
    report(order.word, TBEM_PRIMITIVE_gather_gradient, place);
    return kNone;
  }
  return (static_cast<std::uint64_t>(number) << 32) | place;
}

/// Elements that lie together and are read at once.
template <class T, int kElements>
struct alignas(kElements * sizeof(T)) Some {
  T elements[kElements];
};

/// A thread sums kElements of a row, and `inner` counts such pieces.
template <class T, int kElements, class Index>
__device__ void sumRows(const ScatterShape<Index>& s, const ScatterOrder& order, const T* dy, T* dx) {
  using Piece = Some<T, kElements>;
  const auto at = threadNumber<Index>();
  if (at >= s.count) return;
  const Index line = quotient(at, s.inner), k = at - line * s.inner.divisor;
  const Index outer = quotient(line, s.length), number = line - outer * s.length.divisor;
  const Piece* const from = reinterpret_cast<const Piece*>(dy) + outer * s.numbers * s.inner.divisor + k;
  const std::uint32_t first = order.first[number], last = order.last[number];
  if (last - first > kOften) return;
  double sums[kElements] = {};
#pragma unroll 4
  for (std::uint32_t i = first; i < last; ++i) {
    const Piece piece = from[static_cast<std::uint32_t>(order.keys[i]) * static_cast<Index>(s.inner.divisor)];
#pragma unroll
    for (int element = 0; element < kElements; ++element) sums[element] += static_cast<double>(asFloat(piece.elements[element]));
  }
  Piece result;
#pragma unroll
  for (int element = 0; element < kElements; ++element) result.elements[element] = rounded<T>(static_cast<float>(sums[element]));
  reinterpret_cast<Piece*>(dx)[at] = result;
}

struct Add {
  static __device__ double join(double a, double b) { return a + b; }
};

/// A block at every kOften-th key sums a slice of the number that it belongs to, where that comes often and no block before does.
template <class T, class Index>
__device__ void sumOften(const ScatterShape<Index>& s, const ScatterOrder& order, const T* dy, T* dx) {
  const Tile tile{3, 1};  // kSlice across, 8 down
  const auto block = static_cast<Index>(blockIdx.x);
  const Index line = quotient(block, s.slices), slice = block - line * s.slices.divisor;
  const Index outer = quotient(line, s.places);
  const auto place = static_cast<std::uint32_t>(line - outer * s.places.divisor) * kOften;
  const std::uint64_t key = order.keys[place];
  if (key == kNone) return;
  const std::uint64_t number = key >> 32;
  const std::uint32_t first = order.first[number], last = order.last[number];
  if (last - first <= kOften || (place >= kOften && place - kOften >= first)) return;
  const Place thread(tile);
  const Index k = slice * kSlice + thread.across;
  const bool inside = k < s.inner.divisor;
  double sum = 0;
  if (inside) {
    const T* const from = dy + outer * s.numbers * s.inner.divisor + k;
#pragma unroll 4
    for (std::uint32_t i = first + thread.down; i < last; i += thread.depth)
      sum += static_cast<double>(asFloat(from[static_cast<std::uint32_t>(order.keys[i]) * static_cast<Index>(s.inner.divisor)]));
  }
  sum = joinDown<Add>(tile, thread, sum);
  if (!inside || thread.down != 0) return;
  dx[(outer * s.length.divisor + static_cast<Index>(number)) * s.inner.divisor + k] = rounded<T>(static_cast<float>(sum));
}

}  // namespace
}  // namespace tbem::cuda

using namespace tbem::cuda;

extern "C" __global__ void tbem_Scatter_clear(ScatterOrder order) {
  const auto number = threadNumber<std::uint64_t>();
  if (number < order.length) order.first[number] = order.last[number] = 0;
}

/// Makes the keys and sorts those of each block.
extern "C" __global__ void tbem_Scatter_sort(ScatterOrder order) {
  __shared__ std::uint64_t keys[kSortedTogether];
  const std::uint32_t begin = blockIdx.x * kSortedTogether, size = together(order);
  for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) keys[i] = keyOf(order, begin + i);
  for (std::uint32_t run = 2; run <= size; run *= 2) exchangeTogether(keys, size, begin, run, run / 2);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) order.keys[begin + i] = keys[i];
}

/// Exchanges across blocks.
extern "C" __global__ void tbem_Scatter_exchange(ScatterOrder order, std::uint32_t run, std::uint32_t distance) {
  const auto pair = threadNumber<std::uint32_t>();
  if (pair < order.room / 2) exchange(order.keys, 0, pair, run, distance);
}

/// The rest of a run, within blocks.
extern "C" __global__ void tbem_Scatter_merge(ScatterOrder order, std::uint32_t run) {
  __shared__ std::uint64_t keys[kSortedTogether];
  const std::uint32_t begin = blockIdx.x * kSortedTogether;
  for (std::uint32_t i = threadIdx.x; i < kSortedTogether; i += kThreads) keys[i] = order.keys[begin + i];
  exchangeTogether(keys, kSortedTogether, begin, run, kSortedTogether / 2);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < kSortedTogether; i += kThreads) order.keys[begin + i] = keys[i];
}

/// Where each number's keys begin and end.
extern "C" __global__ void tbem_Scatter_bounds(ScatterOrder order) {
  const auto i = threadNumber<std::uint32_t>();
  if (i >= order.numbers || order.keys[i] == kNone) return;
  const std::uint64_t number = order.keys[i] >> 32;
  if (i == 0 || order.keys[i - 1] >> 32 != number) order.first[number] = i;
  if (i + 1 == order.room || order.keys[i + 1] >> 32 != number) order.last[number] = i + 1;
}

#define TBEM_SCATTER_OF(type, T, bits, Index)                                                                               \
  extern "C" __global__ void tbem_Scatter_sum_##type##_##bits(ScatterShape<Index> shape, ScatterOrder order, const T* dy,   \
                                                              T* dx) {                                                      \
    sumRows<T, 1>(shape, order, dy, dx);                                                                                    \
  }                                                                                                                         \
  extern "C" __global__ void tbem_Scatter_sumTogether_##type##_##bits(ScatterShape<Index> shape, ScatterOrder order,        \
                                                                      const T* dy, T* dx) {                                 \
    sumRows<T, kTogetherBytes / sizeof(T)>(shape, order, dy, dx);                                                           \
  }                                                                                                                         \
  extern "C" __global__ void tbem_Scatter_often_##type##_##bits(ScatterShape<Index> shape, ScatterOrder order, const T* dy, \
                                                                T* dx) {                                                    \
    sumOften(shape, order, dy, dx);                                                                                         \
  }
#define TBEM_SCATTER(type, T)                 \
  TBEM_SCATTER_OF(type, T, 32, std::uint32_t) \
  TBEM_SCATTER_OF(type, T, 64, std::uint64_t)
TBEM_SCATTER(f32, float)
TBEM_SCATTER(bf16, Bfloat16)
TBEM_SCATTER(f16, Float16)
