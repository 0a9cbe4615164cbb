#include "runtime/backends/cuda/libraries/Bias.h"

#include "runtime/backends/cuda/device/Launch.h"

#include <algorithm>

namespace tbem::cuda {

tbem_status addBias(void* y, const void* bias, std::int64_t elements, std::int64_t channels, std::int64_t inner) {
  constexpr std::int64_t kThreads = 256, kMostBlocks = 4096;  // each thread takes several elements of a larger tensor
  if (elements == 0) return TBEM_OK;
  const std::int64_t blocks = std::min((elements + kThreads - 1) / kThreads, kMostBlocks);
  const Grid grid{.blocks = static_cast<std::uint32_t>(blocks), .threads = kThreads};
  return launch({"Bias", "addBias"}, grid, y, bias, elements, channels, inner);
}

}  // namespace tbem::cuda
