// Numbers of 16 bits: IEEE's f16 and bf16, which is the upper half of an f32.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tbem::card {

/// Exact.
inline double widenHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::copysign(NAN, sign) : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

inline double widenBfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// A format's fraction, exponent and its bias; numbers too large become infinite unless rounding is toward zero or away from it.
struct Narrow {
  int fraction, bias, largest;  ///< largest exponent of a number
};
inline constexpr Narrow kHalf{10, 15, 15}, kBfloat{7, 127, 127};

/// Rounds to the format, with what `round` does to a number's last places: std::nearbyint under the mode wanted.
template <class Round>
std::uint16_t narrowed(double value, const Narrow& format, const Round& round) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const auto infinite = static_cast<std::uint16_t>((format.largest + format.bias + 1) << format.fraction);
  if (std::isnan(value)) return 0x7fff;
  if (std::isinf(value)) return sign | infinite;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), 1 - format.bias);
  // In units of the last place, of which a normal number has 2^fraction to 2^(fraction + 1).
  const double units = std::fabs(round(std::ldexp(value, format.fraction - exponent)));
  const auto bits =
      static_cast<std::uint32_t>(units) + (static_cast<std::uint32_t>(exponent + format.bias - 1) << format.fraction);
  if (bits < infinite) return static_cast<std::uint16_t>(sign | bits);
  const double next = round(value > 0 ? 0.25 : -0.25);  // whether it rounds away from zero: nearest does so here too
  const bool towardZero = next == 0 && round(value > 0 ? 0.75 : -0.75) == 0;
  return static_cast<std::uint16_t>(sign | (towardZero ? infinite - 1 : infinite));
}

}  // namespace tbem::card
