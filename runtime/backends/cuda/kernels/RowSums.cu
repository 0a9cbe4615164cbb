// The sums that the gradients of a normalisation over the last axis share: Ba et al. 2016 (arXiv 1607.06450), equations 3 and 4.
// The row's scale first, then the sums over each row and those over the rows. dy and x are of type T, everything else f32.
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Reduction.cuh"

namespace tbem::cuda {
namespace {

struct Two : PairOfSums<RowSumOperands> {
  const RowSumOperands& operands;
  std::uint64_t output;
  __device__ Two(const RowSumOperands& from, std::uint64_t of) : operands(from), output(of) {}
  __device__ void store(const Sum& sum) const {
    operands.first[output] = static_cast<float>(sum.first);
    operands.second[output] = static_cast<float>(sum.second);
  }
};

template <class T>
struct OfRows : Two {
  double mean, scale;
  struct Loaded {
    float dy, x, weight;
  };
  __device__ OfRows(const RowSumOperands& from, std::uint64_t of)
      : Two(from, of), mean(from.mean != nullptr ? static_cast<double>(from.mean[of]) : 0), scale(from.scale[of]) {}
  template <class Index>
  __device__ Loaded load(Index at, Index feature) const {
    return {asFloat(static_cast<const T*>(operands.dy)[at]), asFloat(static_cast<const T*>(operands.x)[at]),
            operands.weight != nullptr ? operands.weight[feature] : 1};
  }
  __device__ void add(Sum& sum, const Loaded& loaded) const {
    const double scaled = static_cast<double>(loaded.dy) * static_cast<double>(loaded.weight);
    sum.first += scaled;
    sum.second += scaled * ((static_cast<double>(loaded.x) - mean) * scale);
  }
};

template <class T>
struct OfColumns : Two {
  using Two::Two;
  struct Loaded {
    float dy, x, mean;
    double scale;
  };
  template <class Index>
  __device__ Loaded load(Index at, Index row) const {
    return {asFloat(static_cast<const T*>(operands.dy)[at]), asFloat(static_cast<const T*>(operands.x)[at]),
            operands.mean != nullptr ? operands.mean[row] : 0, operands.scale[row]};
  }
  __device__ void add(Sum& sum, const Loaded& loaded) const {
    const double gradient = static_cast<double>(loaded.dy);
    sum.first += gradient * ((static_cast<double>(loaded.x) - static_cast<double>(loaded.mean)) * loaded.scale);
    sum.second += gradient;
  }
};

}  // namespace
}  // namespace tbem::cuda

TBEM_REDUCTION(RowSums, rows_f32, tbem::cuda::OfRows<float>)
TBEM_REDUCTION(RowSums, rows_bf16, tbem::cuda::OfRows<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(RowSums, rows_f16, tbem::cuda::OfRows<tbem::cuda::Float16>)
TBEM_REDUCTION(RowSums, columns_f32, tbem::cuda::OfColumns<float>)
TBEM_REDUCTION(RowSums, columns_bf16, tbem::cuda::OfColumns<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(RowSums, columns_f16, tbem::cuda::OfColumns<tbem::cuda::Float16>)

extern "C" __global__ void tbem_RowSums_scale(const float* variance, double* scale, std::uint64_t rows, double eps) {
  const auto row = tbem::cuda::threadNumber<std::uint64_t>();
  if (row < rows) scale[row] = 1 / sqrt(static_cast<double>(variance[row]) + eps);
}
