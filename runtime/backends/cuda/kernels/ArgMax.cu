// arg_max: the first largest element; a NaN is larger than every number.
#include "runtime/backends/cuda/kernels/Reduction.cuh"

namespace tbem::cuda {
namespace {

struct First {
  using Operands = ReduceOperands;
  struct Sum {
    std::int64_t number;  ///< -1: of no element
    float value;
  };
  const ReduceOperands& operands;
  std::uint64_t output;
  __device__ First(const ReduceOperands& from, std::uint64_t of) : operands(from), output(of) {}
  static __device__ Sum none() { return {-1, 0}; }
  static __device__ bool precedes(const Sum& a, const Sum& b) {
    if (a.number < 0 || b.number < 0) return b.number < 0;
    if (isnan(a.value) != isnan(b.value)) return isnan(a.value);
    return a.value > b.value || (!(b.value > a.value) && a.number < b.number);
  }
  static __device__ Sum join(const Sum& a, const Sum& b) { return precedes(a, b) ? a : b; }
  template <class Index>
  __device__ Sum load(Index at, Index number) const {
    return {static_cast<std::int64_t>(number), static_cast<const float*>(operands.x)[at]};
  }
  __device__ void add(Sum& first, const Sum& loaded) const { first = join(first, loaded); }
  __device__ void store(const Sum& first) const { static_cast<std::int64_t*>(operands.result)[output] = first.number; }
};

}  // namespace
}  // namespace tbem::cuda

TBEM_REDUCTION(ArgMax, first, tbem::cuda::First)
