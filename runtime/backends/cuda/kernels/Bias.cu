// The bias of a convolution or of a dense layer, where the library has not added it: y[outer, channels, inner] += bias[channels].
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

template <class Index>
__device__ void addBias(float* y, const float* bias, Index count, const Divider<Index>& inner, const Divider<Index>& channels) {
  const auto at = threadNumber<Index>();
  if (at >= count) return;
  const Index line = quotient(at, inner);
  y[at] += bias[line - quotient(line, channels) * channels.divisor];
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_BIAS(bits, Index)                                                                                            \
  extern "C" __global__ void tbem_Bias_##bits(float* y, const float* bias, Index count, tbem::cuda::Divider<Index> inner, \
                                              tbem::cuda::Divider<Index> channels) {                                      \
    tbem::cuda::addBias<Index>(y, bias, count, inner, channels);                                                          \
  }
TBEM_BIAS(32, std::uint32_t)
TBEM_BIAS(64, std::uint64_t)
