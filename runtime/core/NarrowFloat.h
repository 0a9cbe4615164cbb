// Floating types of 16 bits: operators read them, sum in f32 or wider, and round their results.
#pragma once

#include "runtime/core/Bfloat16.h"
#include "runtime/core/Float16.h"
#include "tbem/backend.h"

#include <cstdint>

namespace tbem::runtime {

constexpr bool isNarrow(std::int32_t dtype) { return dtype == TBEM_BF16 || dtype == TBEM_F16; }

/// `visit(T())` with the class of numbers of a narrow type.
template <class Visit>
auto withNarrow(std::int32_t dtype, const Visit& visit) {
  return dtype == TBEM_BF16 ? visit(Bfloat16()) : visit(Float16());
}

}  // namespace tbem::runtime
