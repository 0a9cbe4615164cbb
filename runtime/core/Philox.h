// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011, section 4: ten rounds, multipliers 0xD2511F53 and 0xCD9E8D57, Weyl constants 0x9E3779B9 and 0xBB67AE85.
//
// One number a tensor element: counter = (element low, element high, step, stream low), key = (seed low ^ stream high, seed
// high). `element` is the row-major number in the logical shape, so a number depends neither on layout nor on threads; `stream`
// is a hash of the instance's path. Native code (compiler/jit) makes the same numbers; a test holds them equal.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace tbem::runtime {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0], p1 = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32U) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32U) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k = {k[0] + 0x9E3779B9U, k[1] + 0xBB67AE85U};
  }
  return c;
}

constexpr PhiloxCounter philoxAt(std::uint64_t seed, std::uint64_t stream, std::uint32_t step, std::uint64_t element) {
  return philox(
      {static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32U), step, static_cast<std::uint32_t>(stream)},
      {static_cast<std::uint32_t>(seed) ^ static_cast<std::uint32_t>(stream >> 32U), static_cast<std::uint32_t>(seed >> 32U)});
}

/// Uniform in [0, 1): the upper 24 bits of word 0, exact in f32 and in f64, so both draw the same number.
constexpr double philoxUniform(const PhiloxCounter& words) { return static_cast<double>(words[0] >> 8U) * 0x1p-24; }

/// Standard normal by Box & Muller (1958) from words 0 and 1, in double: |value| <= 6.77.
inline double philoxNormal(const PhiloxCounter& words) {
  const double u = (static_cast<double>(words[0]) + 0.5) * 0x1p-32, v = static_cast<double>(words[1]) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586477 * v);
}

/// Uniform in [0, bound) for 0 < bound < 2^32: the product's upper word; no value is likelier than another by more than 2^-32.
constexpr std::int64_t philoxBelow(const PhiloxCounter& words, std::int64_t bound) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(words[0]) * static_cast<std::uint64_t>(bound)) >> 32U);
}

}  // namespace tbem::runtime
