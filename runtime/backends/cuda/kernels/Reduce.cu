// reduce_sum, reduce_max and its gradient, sum_squares.
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Reduction.cuh"

namespace tbem::cuda {
namespace {

/// A sum whose result is of the type `To`.
template <class To>
struct Total {
  using Operands = ReduceOperands;
  using Sum = double;
  const ReduceOperands& operands;
  std::uint64_t output;
  __device__ Total(const ReduceOperands& from, std::uint64_t of) : operands(from), output(of) {}
  static __device__ double none() { return 0; }
  static __device__ double join(double a, double b) { return a + b; }
  __device__ void store(double sum) const { static_cast<To*>(operands.result)[output] = rounded<To>(static_cast<float>(sum)); }
};

template <class From, class To>
struct Values : Total<To> {
  using Total<To>::Total;
  template <class Index>
  __device__ float load(Index at, Index) const {
    return asFloat(static_cast<const From*>(this->operands.x)[at]);
  }
};

template <class From, class To>
struct Plain : Values<From, To> {
  using Values<From, To>::Values;
  __device__ void add(double& sum, float value) const { sum += static_cast<double>(value); }
};

struct Squares : Values<float, float> {
  using Values::Values;
  __device__ void add(double& sum, float value) const { sum += static_cast<double>(value) * static_cast<double>(value); }
};

/// A NaN is kept.
struct Largest {
  using Operands = ReduceOperands;
  using Sum = float;
  const ReduceOperands& operands;
  std::uint64_t output;
  __device__ Largest(const ReduceOperands& from, std::uint64_t of) : operands(from), output(of) {}
  static __device__ float none() { return -INFINITY; }
  static __device__ float join(float a, float b) { return b > a || isnan(b) ? b : a; }
  template <class Index>
  __device__ float load(Index at, Index) const {
    return static_cast<const float*>(operands.x)[at];
  }
  __device__ void add(float& largest, float value) const { largest = join(largest, value); }
  __device__ void store(float largest) const { static_cast<float*>(operands.result)[output] = largest; }
};

struct Equal : Values<float, float> {
  float largest;
  __device__ Equal(const ReduceOperands& from, std::uint64_t of) : Values(from, of), largest(from.largest[of]) {}
  __device__ void add(double& sum, float value) const { sum += value == largest ? 1 : 0; }
  __device__ void store(double sum) const { static_cast<double*>(operands.result)[output] = sum; }
};

/// Where each result is one block's or less: counts, and writes at once.
template <class Index>
__device__ void maxGradientWhole(const ReduceShape<Index>& shape, const MaxGradientOperands& of) {
  const Portion<Index> portion(shape);
  const float largest = of.largest[portion.inside ? portion.output : 0];
  double equal = 0;
  const auto load = [&](Index at, Index) { return of.x[at]; };
  portion.forElements(shape, load, [&](Index, float value) { equal += value == largest ? 1 : 0; });
  equal = joinDown<Total<float>>(shape.tile, portion.place, equal);
  if (!portion.inside) return;
  const auto share = static_cast<float>(static_cast<double>(of.dy[portion.output]) / equal);
  portion.forElements(shape, load, [&](Index at, float value) { of.dx[at] = value == largest ? share : 0; });
}

template <class Index>
__device__ void maxGradient(const MaxGradient<Index>& m) {
  const auto at = threadNumber<Index>();
  if (at >= m.count) return;
  const Index output = offsetOf(m.axes, at);
  const double dy = static_cast<double>(m.of.dy[output]);
  m.of.dx[at] = m.of.x[at] == m.of.largest[output] ? static_cast<float>(dy / m.equal[output]) : 0;
}

}  // namespace
}  // namespace tbem::cuda

using Sum = tbem::cuda::Plain<float, float>;
template <class Narrow>
using NarrowedSum = tbem::cuda::Plain<float, Narrow>;
template <class Narrow>
using WidenedSum = tbem::cuda::Plain<Narrow, float>;
template <class Narrow>
using NarrowSum = tbem::cuda::Plain<Narrow, Narrow>;
TBEM_REDUCTION(Reduce, sum_f32_f32, Sum)
TBEM_REDUCTION(Reduce, sum_f32_bf16, NarrowedSum<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(Reduce, sum_bf16_f32, WidenedSum<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(Reduce, sum_bf16_bf16, NarrowSum<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(Reduce, sum_f32_f16, NarrowedSum<tbem::cuda::Float16>)
TBEM_REDUCTION(Reduce, sum_f16_f32, WidenedSum<tbem::cuda::Float16>)
TBEM_REDUCTION(Reduce, sum_f16_f16, NarrowSum<tbem::cuda::Float16>)
TBEM_REDUCTION(Reduce, squares, tbem::cuda::Squares)
TBEM_REDUCTION(Reduce, max, tbem::cuda::Largest)
TBEM_REDUCTION(Reduce, equal, tbem::cuda::Equal)

#define TBEM_MAX_GRADIENT(bits, Index)                                                                                        \
  extern "C" __global__ void tbem_Reduce_maxGradient_##bits(tbem::cuda::MaxGradient<Index> m) { tbem::cuda::maxGradient(m); } \
  extern "C" __global__ void tbem_Reduce_maxGradientWhole_##bits(tbem::cuda::ReduceShape<Index> shape,                        \
                                                                 tbem::cuda::MaxGradientOperands of) {                        \
    tbem::cuda::maxGradientWhole(shape, of);                                                                                  \
  }
TBEM_MAX_GRADIENT(32, std::uint32_t)
TBEM_MAX_GRADIENT(64, std::uint64_t)
