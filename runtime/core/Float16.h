// An f16 number in memory: IEEE 754's binary16 (5 bits of exponent, 10 stored bits of significand).
#pragma once

#include <cstdint>
#include <cstring>

namespace tbem::runtime {

/// Rounds to nearest, ties to even, where it is made of a number, to infinity from 65520 on; NaN stays NaN.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float value) {
    std::uint32_t whole;
    std::memcpy(&whole, &value, sizeof whole);
    const std::uint32_t sign = whole >> 16U & 0x8000U, magnitude = whole & 0x7FFFFFFFU;
    std::uint32_t half;
    if (magnitude > 0x7F800000U) {
      half = 0x7E00U | (magnitude >> 13U & 0x3FFU);
    } else if (magnitude >= 0x477FF000U) {
      half = 0x7C00U;
    } else if (magnitude >= 0x38800000U) {  // 2^-14, the smallest normal number
      half = (magnitude + 0xFFFU + (magnitude >> 13U & 1U) - 0x38000000U) >> 13U;
    } else {
      // Numbers from 0.5 on lie 2^-24 apart, as subnormal ones do: the sum rounds.
      float sum;
      std::memcpy(&sum, &magnitude, sizeof sum);
      sum += 0.5F;
      std::memcpy(&half, &sum, sizeof half);
      half -= 0x3F000000U;
    }
    bits = static_cast<std::uint16_t>(sign | half);
  }
  explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000U) << 16U, exponent = bits >> 10U & 31U, fraction = bits & 0x3FFU;
    if (exponent == 0) return (sign != 0 ? -0x1p-24F : 0x1p-24F) * static_cast<float>(fraction);
    const std::uint32_t whole = sign | (exponent == 31 ? 0x7F800000U : (exponent + 112U) << 23U) | fraction << 13U;
    float value;
    std::memcpy(&value, &whole, sizeof value);
    return value;
  }
};

}  // namespace tbem::runtime
