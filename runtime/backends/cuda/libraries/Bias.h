// The bias that a library has not added.
#pragma once

#include "tbem/backend.h"

#include <cstdint>

namespace tbem::cuda {

/// y[outer, channels, inner] += bias[channels]; `elements` of y in all. `type` and `biasType`: TBEM_F32, TBEM_BF16 or TBEM_F16,
/// the bias of y's type or f32.
struct Biased {
  void* y;
  const void* bias;
  std::int32_t type, biasType;
  std::int64_t elements, channels, inner;
};
tbem_status addBias(const Biased& biased);

}  // namespace tbem::cuda
