// Sums, maxima and the like over any axes, for which a `What` says what is joined:
//   Operands   pointers and numbers; What(operands, output) stands for one result
//   Sum        what is carried; none() is that of no element, join(a, b) that of the elements of both, in any order
//   add(sum, at, number)  the element at offset `at`, the number-th of this result's
//   store(sum)            writes the result
// Sums are carried in f64: the memory is what takes the time, and a result is then as exact as its type, also where terms cancel.
#pragma once

#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {

/// Each result, or each share of each result: `partials` [shares, outputs] where there are several.
template <class What, class Index>
__device__ void reduce(const ReduceShape<Index>& shape, const typename What::Operands& operands, void* partials) {
  using Sum = typename What::Sum;
  const Place place(shape.tile);
  Index output = static_cast<Index>(blockIdx.x) * place.width + place.across, base = 0;
  bool inside = output < shape.outputs;
  if (shape.tile.columns != 0) {
    const Index row = quotient(static_cast<Index>(blockIdx.x), shape.tiles);
    const Index column = (static_cast<Index>(blockIdx.x) - row * shape.tiles.divisor) * place.width + place.across;
    inside = column < shape.inner;
    output = row * shape.inner + column;
    base = offsetOf(shape.kept, row) + column;
  } else if (inside) {
    base = offsetOf(shape.kept, output);
  }
  Sum sum = What::none();
  const What what(operands, inside ? output : 0);
  if (inside) {
    const Index first = static_cast<Index>(blockIdx.y) * shape.share;
    const Index last = shape.count - first < shape.share ? shape.count : first + shape.share;
#pragma unroll kUnrolled < Index>
    for (Index number = first + place.down; number < last; number += place.depth)
      what.add(sum, base + offsetOf(shape.reduced, number), number);
  }
  sum = joinDown<What>(shape.tile, place, sum);
  if (!inside || place.down != 0) return;
  if (gridDim.y == 1) {
    what.store(sum);
  } else {
    static_cast<Sum*>(partials)[static_cast<std::uint64_t>(blockIdx.y) * shape.outputs + output] = sum;
  }
}

/// The shares of each result.
template <class What>
__device__ void joinShares(const typename What::Operands& operands, const void* partials, std::uint64_t outputs,
                           std::uint32_t shares, std::int32_t logDepth) {
  using Sum = typename What::Sum;
  const Tile tile{logDepth, 1};
  const Place place(tile);
  const std::uint64_t output = static_cast<std::uint64_t>(blockIdx.x) * place.width + place.across;
  const bool inside = output < outputs;
  Sum sum = What::none();
  if (inside) {
    for (std::uint32_t share = place.down; share < shares; share += place.depth)
      sum = What::join(sum, static_cast<const Sum*>(partials)[share * outputs + output]);
  }
  sum = joinDown<What>(tile, place, sum);
  if (inside && place.down == 0) What(operands, output).store(sum);
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

/// The kernels of a `What`: tbem_FILE_NAME_32, _64 and _join.
#define TBEM_REDUCTION(file, name, What)                                                                                       \
  extern "C" __global__ void tbem_##file##_##name##_32(tbem::cuda::ReduceShape<std::uint32_t> shape, What::Operands operands,  \
                                                       void* partials) {                                                       \
    tbem::cuda::reduce<What>(shape, operands, partials);                                                                       \
  }                                                                                                                            \
  extern "C" __global__ void tbem_##file##_##name##_64(tbem::cuda::ReduceShape<std::uint64_t> shape, What::Operands operands,  \
                                                       void* partials) {                                                       \
    tbem::cuda::reduce<What>(shape, operands, partials);                                                                       \
  }                                                                                                                            \
  extern "C" __global__ void tbem_##file##_##name##_join(What::Operands operands, const void* partials, std::uint64_t outputs, \
                                                         std::uint32_t shares, std::int32_t logDepth) {                        \
    tbem::cuda::joinShares<What>(operands, partials, outputs, shares, logDepth);                                               \
  }

}  // namespace tbem::cuda
