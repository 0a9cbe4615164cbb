// Statistics of channels and the sums of their gradient: Ioffe & Szegedy 2015 (arXiv 1502.03167), section 3.
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Reduction.cuh"

namespace tbem::cuda {
namespace {

/// One pass over f64 sums of what is left of each element when the channel's first is taken away: as exact as two passes (Chan,
/// Golub & LeVeque 1983, shifted data).
template <class T>
struct Moments : PairOfSums<ChannelOperands> {
  const ChannelOperands& operands;
  std::uint64_t channel;
  double shift = 0;
  __device__ Moments(const ChannelOperands& from, std::uint64_t of) : operands(from), channel(of) {
    const float first = from.count > 0 ? asFloat(static_cast<const T*>(from.x)[of * from.plane]) : 0;
    if (isfinite(first)) shift = static_cast<double>(first);
  }
  template <class Index>
  __device__ float load(Index at, Index) const {
    return asFloat(static_cast<const T*>(operands.x)[at]);
  }
  __device__ void add(Sum& sum, float value) const {
    const double distance = static_cast<double>(value) - shift;
    sum.first += distance;
    sum.second += distance * distance;
  }
  __device__ void store(const Sum& sum) const {
    const auto count = static_cast<double>(operands.count);
    const double mean = sum.first / count, variance = sum.second / count - mean * mean;
    operands.first[channel] = static_cast<float>(shift + mean);
    operands.second[channel] = static_cast<float>(variance < 0 ? 0 : variance);
  }
};

template <class T>
struct Gradients : PairOfSums<ChannelOperands> {
  const ChannelOperands& operands;
  std::uint64_t channel;
  double mean;
  __device__ Gradients(const ChannelOperands& from, std::uint64_t of)
      : operands(from), channel(of), mean(static_cast<double>(from.mean[of])) {}
  struct Loaded {
    float dy, x;
  };
  template <class Index>
  __device__ Loaded load(Index at, Index) const {
    return {asFloat(static_cast<const T*>(operands.dy)[at]), asFloat(static_cast<const T*>(operands.x)[at])};
  }
  __device__ void add(Sum& sum, const Loaded& loaded) const {
    const auto gradient = static_cast<double>(loaded.dy);
    sum.first += gradient * (static_cast<double>(loaded.x) - mean);
    sum.second += gradient;
  }
  __device__ void store(const Sum& sum) const {
    const double deviation = sqrt(static_cast<double>(operands.variance[channel]) + operands.eps);
    operands.first[channel] = static_cast<float>(sum.first / deviation);
    operands.second[channel] = static_cast<float>(sum.second);
  }
};

}  // namespace
}  // namespace tbem::cuda

TBEM_REDUCTION(Channel, moments_f32, tbem::cuda::Moments<float>)
TBEM_REDUCTION(Channel, moments_bf16, tbem::cuda::Moments<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(Channel, gradients_f32, tbem::cuda::Gradients<float>)
TBEM_REDUCTION(Channel, gradients_bf16, tbem::cuda::Gradients<tbem::cuda::Bfloat16>)
TBEM_REDUCTION(Channel, moments_f16, tbem::cuda::Moments<tbem::cuda::Float16>)
TBEM_REDUCTION(Channel, gradients_f16, tbem::cuda::Gradients<tbem::cuda::Float16>)
