// Sums, maxima and the like over any axes, for which a `What` says what is joined:
//   Operands   pointers and numbers; What(operands, output) stands for one result
//   Sum        what is carried; none() is that of no element, join(a, b) that of the elements of both, in any order
//   load(at, number)      what is read for the element at offset `at`, the number-th of this result's
//   add(sum, loaded)      takes it
//   store(sum)            writes the result
// Sums are carried in f64: the memory is what takes the time, and a result is then as exact as its type, also where terms cancel.
#pragma once

#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {

/// A thread's part of a result: the elements from `first`, `depth` apart, to before `last`.
template <class Index>
struct Portion {
  Place place;
  Index output, base = 0, first = 0, last = 0;
  bool inside;

  __device__ explicit Portion(const ReduceShape<Index>& shape) : place(shape.tile) {
    output = static_cast<Index>(blockIdx.x) * place.width + place.across;
    inside = output < shape.outputs;
    if (shape.tile.columns != 0) {
      const Index row = quotient(static_cast<Index>(blockIdx.x), shape.tiles);
      const Index column = (static_cast<Index>(blockIdx.x) - row * shape.tiles.divisor) * place.width + place.across;
      inside = column < shape.inner;
      output = row * shape.inner + column;
      base = offsetOf(shape.kept, row) + column;
    } else if (inside) {
      base = offsetOf(shape.kept, output);
    }
    if (!inside) return;
    const Index begin = static_cast<Index>(blockIdx.y) * shape.share;
    first = begin + place.down;
    last = shape.count - begin < shape.share ? shape.count : begin + shape.share;
  }

  /// Calls take(offset, what load(offset, number) gives) for each element. Several are loaded before any is taken, so that loads
  /// wait together, some more than once rather than under a condition. Few reductions have more than two axes that are apart.
  template <class Load, class Take>
  __device__ void forElements(const ReduceShape<Index>& shape, Load load, Take take) const {
    if (shape.reduced.rank <= 2) {
      forElements<2, kUnrolled<Index>>(shape, load, take);
    } else {
      forElements<kMostTurns, 1>(shape, load, take);
    }
  }

private:
  template <int kUsed, int kTurns, class Load, class Take>
  __device__ void forElements(const ReduceShape<Index>& shape, Load load, Take take) const {
    const Index depth = place.depth;
#pragma unroll 1
    for (Index number = first; number < last; number += depth * kTurns) {
      Index at[kTurns];
      decltype(load(first, first)) loaded[kTurns];
#pragma unroll
      for (int k = 0; k < kTurns; ++k) {
        const Index here = number + k * depth < last ? number + k * depth : number;
        at[k] = base + offsetOf<kUsed>(shape.reduced, here);
        loaded[k] = load(at[k], here);
      }
#pragma unroll
      for (int k = 0; k < kTurns; ++k) {
        if (number + k * depth < last) take(at[k], loaded[k]);
      }
    }
  }
};

/// How many blocks have left their shares of a column of blocks' results; 0 again behind each kernel. A device runs one kernel at
/// a time here (device/Device.h: one stream).
static __device__ unsigned finishedShares[kMostColumns];

/// Whether the block is the last of its column to be here. What the others wrote before is then there for it to read.
inline __device__ bool isLastShare() {
  __shared__ bool isLast;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) isLast = atomicInc(&finishedShares[blockIdx.x], gridDim.y - 1) == gridDim.y - 1;
  __syncthreads();
  if (isLast) __threadfence();
  return isLast;
}

/// Each result. Where it has several shares, the block that is ready last joins them, always in the same order: `partials`
/// [shares, outputs].
template <class What, class Index>
__device__ void reduce(const ReduceShape<Index>& shape, const typename What::Operands& operands, void* partials) {
  using Sum = typename What::Sum;
  const Portion<Index> portion(shape);
  Sum sum = What::none();
  const What what(operands, portion.inside ? portion.output : 0);
  portion.forElements(
      shape, [&](Index at, Index number) { return what.load(at, number); },
      [&](Index, const auto& loaded) { what.add(sum, loaded); });
  sum = joinDown<What>(shape.tile, portion.place, sum);
  const bool isWriter = portion.inside && portion.place.down == 0;
  if (gridDim.y > 1) {
    const auto shareOf = [&](unsigned share) -> Sum& {
      return static_cast<Sum*>(partials)[static_cast<std::uint64_t>(share) * shape.outputs + portion.output];
    };
    if (isWriter) shareOf(blockIdx.y) = sum;
    if (!isLastShare()) return;
    sum = What::none();
    if (portion.inside) {
      for (unsigned share = portion.place.down; share < gridDim.y; share += portion.place.depth)
        sum = What::join(sum, shareOf(share));
    }
    sum = joinDown<What>(shape.tile, portion.place, sum);
  }
  if (isWriter) what.store(sum);
}

/// What carries two sums.
template <class OperandsOfBoth>
struct PairOfSums {
  using Operands = OperandsOfBoth;
  struct Sum {
    double first, second;
  };
  static __device__ Sum none() { return {0, 0}; }
  static __device__ Sum join(const Sum& a, const Sum& b) { return {a.first + b.first, a.second + b.second}; }
};

/// The kernels of a `What`: tbem_FILE_NAME_32 and _64.
#define TBEM_REDUCTION(file, name, What)                                                                                      \
  extern "C" __global__ void tbem_##file##_##name##_32(tbem::cuda::ReduceShape<std::uint32_t> shape, What::Operands operands, \
                                                       void* partials) {                                                      \
    tbem::cuda::reduce<What>(shape, operands, partials);                                                                      \
  }                                                                                                                           \
  extern "C" __global__ void tbem_##file##_##name##_64(tbem::cuda::ReduceShape<std::uint64_t> shape, What::Operands operands, \
                                                       void* partials) {                                                      \
    tbem::cuda::reduce<What>(shape, operands, partials);                                                                      \
  }

}  // namespace tbem::cuda
