// reduce_sum, reduce_max and its gradient, sum_squares.
#include "runtime/backends/cuda/kernels/Reduction.cuh"

namespace tbem::cuda {
namespace {

struct Total {
  using Operands = ReduceOperands;
  using Sum = double;
  const ReduceOperands& operands;
  std::uint64_t output;
  __device__ Total(const ReduceOperands& from, std::uint64_t of) : operands(from), output(of) {}
  static __device__ double none() { return 0; }
  static __device__ double join(double a, double b) { return a + b; }
  __device__ void store(double sum) const { static_cast<float*>(operands.result)[output] = static_cast<float>(sum); }
};

struct Plain : Total {
  using Total::Total;
  template <class Index>
  __device__ void add(double& sum, Index at, Index) const {
    sum += static_cast<double>(operands.x[at]);
  }
};

struct Squares : Total {
  using Total::Total;
  template <class Index>
  __device__ void add(double& sum, Index at, Index) const {
    const auto value = static_cast<double>(operands.x[at]);
    sum += value * value;
  }
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
  __device__ void add(float& largest, Index at, Index) const {
    largest = join(largest, operands.x[at]);
  }
  __device__ void store(float largest) const { static_cast<float*>(operands.result)[output] = largest; }
};

struct Equal : Total {
  float largest;
  __device__ Equal(const ReduceOperands& from, std::uint64_t of) : Total(from, of), largest(from.largest[of]) {}
  template <class Index>
  __device__ void add(double& sum, Index at, Index) const {
    sum += operands.x[at] == largest ? 1 : 0;
  }
  __device__ void store(double sum) const { static_cast<double*>(operands.result)[output] = sum; }
};

template <class Index>
__device__ void maxGradient(const MaxGradient<Index>& m) {
  const auto at = threadNumber<Index>();
  if (at >= m.count) return;
  const Index output = offsetOf(m.axes, at);
  m.dx[at] = m.x[at] == m.largest[output] ? static_cast<float>(static_cast<double>(m.dy[output]) / m.equal[output]) : 0;
}

}  // namespace
}  // namespace tbem::cuda

TBEM_REDUCTION(Reduce, sum, tbem::cuda::Plain)
TBEM_REDUCTION(Reduce, squares, tbem::cuda::Squares)
TBEM_REDUCTION(Reduce, max, tbem::cuda::Largest)
TBEM_REDUCTION(Reduce, equal, tbem::cuda::Equal)

extern "C" __global__ void tbem_Reduce_maxGradient_32(tbem::cuda::MaxGradient<std::uint32_t> m) { tbem::cuda::maxGradient(m); }
extern "C" __global__ void tbem_Reduce_maxGradient_64(tbem::cuda::MaxGradient<std::uint64_t> m) { tbem::cuda::maxGradient(m); }
