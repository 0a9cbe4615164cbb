// A bf16 number in memory: the upper half of a f32 (8 bits of exponent, 7 stored bits of significand).
#pragma once

#include <cstdint>
#include <cstring>

namespace tbem::runtime {

/// Rounds to nearest, ties to even, where it is made of a number; NaN stays NaN.
struct Bfloat16 {
  std::uint16_t bits = 0;

  Bfloat16() = default;
  explicit Bfloat16(float value) {
    std::uint32_t whole;
    std::memcpy(&whole, &value, sizeof whole);
    const bool nan = (whole & 0x7FFFFFFFU) > 0x7F800000U;
    bits = static_cast<std::uint16_t>((nan ? whole | 0x400000U : whole + 0x7FFFU + (whole >> 16U & 1U)) >> 16U);
  }
  explicit operator float() const {
    const std::uint32_t whole = static_cast<std::uint32_t>(bits) << 16U;
    float value;
    std::memcpy(&value, &whole, sizeof value);
    return value;
  }
};

}  // namespace tbem::runtime
