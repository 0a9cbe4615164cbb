#include "runtime/backends/cuda/libraries/Bias.h"

#include "runtime/backends/cuda/ops/Shapes.h"

#include <fmt/format.h>

namespace tbem::cuda {

namespace {

template <class Index>
tbem_status start(const char* kernel, const Biased& biased) {
  return launch({"Bias", kernel}, {blocksFor(biased.elements), kThreads}, biased.y, biased.bias,
                static_cast<Index>(biased.elements), dividerBy<Index>(biased.inner), dividerBy<Index>(biased.channels));
}

}  // namespace

tbem_status addBias(const Biased& biased) {
  struct Kernel {
    std::int32_t type, biasType;
    const char *narrow, *wide;
  };
  constexpr Kernel kKernels[] = {{TBEM_F32, TBEM_F32, "tbem_Bias_f32_f32_32", "tbem_Bias_f32_f32_64"},
                                 {TBEM_BF16, TBEM_F32, "tbem_Bias_bf16_f32_32", "tbem_Bias_bf16_f32_64"},
                                 {TBEM_BF16, TBEM_BF16, "tbem_Bias_bf16_bf16_32", "tbem_Bias_bf16_bf16_64"},
                                 {TBEM_F16, TBEM_F32, "tbem_Bias_f16_f32_32", "tbem_Bias_f16_f32_64"},
                                 {TBEM_F16, TBEM_F16, "tbem_Bias_f16_f16_32", "tbem_Bias_f16_f16_64"}};
  for (const Kernel& kernel : kKernels) {
    if (kernel.type != biased.type || kernel.biasType != biased.biasType) continue;
    return biased.elements < kWide ? start<std::uint32_t>(kernel.narrow, biased) : start<std::uint64_t>(kernel.wide, biased);
  }
  return fail(TBEM_UNSUPPORTED, fmt::format("cuda: a bias of {} is not added to {}", runtime::dtypeName(biased.biasType),
                                            runtime::dtypeName(biased.type)));
}

}  // namespace tbem::cuda
