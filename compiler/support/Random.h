// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace tbem {

/// SplitMix64 (Steele, Lea, Flood 2014): one 64-bit word of state, every seed is good.
class Random {
public:
  explicit Random(std::uint64_t seed) : state(seed) {}

  std::uint64_t bits() {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// 0 .. n-1, n >= 1; no value is likelier than another by more than 2^-32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((bits() >> 32) * n) >> 32); }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

private:
  std::uint64_t state;
};

}  // namespace tbem
