#include "runtime/backends/cuda/libraries/Bias.h"

#include "runtime/backends/cuda/ops/Shapes.h"

namespace tbem::cuda {

tbem_status addBias(void* y, const void* bias, std::int64_t elements, std::int64_t channels, std::int64_t inner) {
  const Grid grid{blocksFor(elements), kThreads};
  if (elements < kWide) {
    return launch({"Bias", "tbem_Bias_32"}, grid, y, bias, static_cast<std::uint32_t>(elements), dividerBy<std::uint32_t>(inner),
                  dividerBy<std::uint32_t>(channels));
  }
  return launch({"Bias", "tbem_Bias_64"}, grid, y, bias, static_cast<std::uint64_t>(elements), dividerBy<std::uint64_t>(inner),
                dividerBy<std::uint64_t>(channels));
}

}  // namespace tbem::cuda
