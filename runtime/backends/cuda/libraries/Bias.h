// The bias that a library has not added.
#pragma once

#include "tbem/backend.h"

#include <cstdint>

namespace tbem::cuda {

/// y[outer, channels, inner] += bias[channels]; `elements` of y in all. `type` and `biasType`: TBEM_F32 or TBEM_BF16, the bias
/// f32 at least where y is.
struct Biased {
  void* y;
  const void* bias;
  std::int32_t type, biasType;
  std::int64_t elements, channels, inner;
};
tbem_status addBias(const Biased& biased);

}  // namespace tbem::cuda
