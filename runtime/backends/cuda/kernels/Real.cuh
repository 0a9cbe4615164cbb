// Elements of floating types, which kernels compute with in f32 or f64.
#pragma once

#include "runtime/core/Bfloat16.h"
#include "runtime/core/Float16.h"

#include <cstdint>

namespace tbem::cuda {

using runtime::Bfloat16;
using runtime::Float16;

inline __device__ float asFloat(float value) { return value; }
inline __device__ float asFloat(Bfloat16 value) { return __uint_as_float(static_cast<std::uint32_t>(value.bits) << 16); }

inline __device__ float asFloat(Float16 value) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
}

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
template <>
inline __device__ Float16 rounded<Float16>(float value) {
  Float16 narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
  return narrow;
}

}  // namespace tbem::cuda
