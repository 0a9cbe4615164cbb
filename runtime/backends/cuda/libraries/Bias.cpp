#include "runtime/backends/cuda/libraries/Bias.h"

#include "runtime/backends/cuda/ops/Shapes.h"

namespace tbem::cuda {

namespace {

template <class Index>
tbem_status start(const char* kernel, const Biased& biased) {
  return launch({"Bias", kernel}, {blocksFor(biased.elements), kThreads}, biased.y, biased.bias,
                static_cast<Index>(biased.elements), dividerBy<Index>(biased.inner), dividerBy<Index>(biased.channels));
}

}  // namespace

tbem_status addBias(const Biased& biased) {
  const bool narrow = biased.type == TBEM_BF16, both = biased.biasType == TBEM_BF16;
  if (biased.elements < kWide) {
    return start<std::uint32_t>(both     ? "tbem_Bias_bf16_bf16_32"
                                : narrow ? "tbem_Bias_bf16_f32_32"
                                         : "tbem_Bias_f32_f32_32",
                                biased);
  }
  return start<std::uint64_t>(both     ? "tbem_Bias_bf16_bf16_64"
                              : narrow ? "tbem_Bias_bf16_f32_64"
                                       : "tbem_Bias_f32_f32_64",
                              biased);
}

}  // namespace tbem::cuda
