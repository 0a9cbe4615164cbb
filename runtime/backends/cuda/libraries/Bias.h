// The bias that a library has not added.
#pragma once

#include "tbem/backend.h"

#include <cstdint>

namespace tbem::cuda {

/// y[outer, channels, inner] += bias[channels]; `elements` of y in all.
tbem_status addBias(void* y, const void* bias, std::int64_t elements, std::int64_t channels, std::int64_t inner);

}  // namespace tbem::cuda
