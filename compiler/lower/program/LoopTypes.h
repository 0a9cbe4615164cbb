// Element types that native loops compute with.
#pragma once

#include "runtime/include/tbem/backend.h"

#include <cstdint>

namespace tbem::estimate {

/// Whether element-wise code can have operands of this type: f8 can be described and counted, but nothing computes it yet.
constexpr bool hasLoops(std::int32_t dtype) { return dtype != TBEM_F8E4M3 && dtype != TBEM_F8E5M2; }

}  // namespace tbem::estimate
