// The bias of a convolution or of a dense layer, where the library has not added it: y[outer, channels, inner] += bias[channels].
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

template <class Y, class Bias, class Index>
__device__ void addBias(Y* y, const Bias* bias, Index count, const Divider<Index>& inner, const Divider<Index>& channels) {
  const auto at = threadNumber<Index>();
  if (at >= count) return;
  const Index line = quotient(at, inner);
  y[at] = rounded<Y>(asFloat(y[at]) + asFloat(bias[line - quotient(line, channels) * channels.divisor]));
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_BIAS(types, Y, B, bits, Index)                                                                                 \
  extern "C" __global__ void tbem_Bias_##types##_##bits(Y* y, const B* bias, Index count, tbem::cuda::Divider<Index> inner, \
                                                        tbem::cuda::Divider<Index> channels) {                              \
    tbem::cuda::addBias(y, bias, count, inner, channels);                                                                   \
  }
TBEM_BIAS(f32_f32, float, float, 32, std::uint32_t)
TBEM_BIAS(f32_f32, float, float, 64, std::uint64_t)
TBEM_BIAS(bf16_f32, tbem::cuda::Bfloat16, float, 32, std::uint32_t)
TBEM_BIAS(bf16_f32, tbem::cuda::Bfloat16, float, 64, std::uint64_t)
TBEM_BIAS(bf16_bf16, tbem::cuda::Bfloat16, tbem::cuda::Bfloat16, 32, std::uint32_t)
TBEM_BIAS(bf16_bf16, tbem::cuda::Bfloat16, tbem::cuda::Bfloat16, 64, std::uint64_t)
TBEM_BIAS(f16_f32, tbem::cuda::Float16, float, 32, std::uint32_t)
TBEM_BIAS(f16_f32, tbem::cuda::Float16, float, 64, std::uint64_t)
TBEM_BIAS(f16_f16, tbem::cuda::Float16, tbem::cuda::Float16, 32, std::uint32_t)
TBEM_BIAS(f16_f16, tbem::cuda::Float16, tbem::cuda::Float16, 64, std::uint64_t)
