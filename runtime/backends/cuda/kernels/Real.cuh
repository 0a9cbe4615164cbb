// Elements of floating types, which kernels compute with in f32 or f64.
#pragma once

#include "runtime/core/Bfloat16.h"

#include <cstdint>

namespace tbem::cuda {

using runtime::Bfloat16;

inline __device__ float asFloat(float value) { return value; }
inline __device__ float asFloat(Bfloat16 value) { return __uint_as_float(static_cast<std::uint32_t>(value.bits) << 16); }

/// As an element of the type, to nearest, ties to even; a NaN stays one.
template <class T>
__device__ T rounded(float value);
template <>
inline __device__ float rounded<float>(float value) {
  return value;
}
template <>
inline __device__ Bfloat16 rounded<Bfloat16>(float value) {
  const std::uint32_t whole = __float_as_uint(value);
  const bool nan = (whole & 0x7FFFFFFFU) > 0x7F800000U;
  Bfloat16 narrow;
  narrow.bits = static_cast<std::uint16_t>((nan ? whole | 0x400000U : whole + 0x7FFFU + ((whole >> 16) & 1U)) >> 16);
  return narrow;
}

}  // namespace tbem::cuda
