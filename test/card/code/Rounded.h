// Arithmetic under the modifiers .rz, .rm, .rp, .ftz and .sat. Files that include this are compiled with -frounding-math.
#pragma once

#include "test/card/code/Program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace tbem::card {

/// The processor rounds so as long as this lives, and to nearest before and after. Of an x86 only the unit that computes f32 and
/// f64 is told, which takes a fraction of the time of fesetround.
class Rounding {
public:
  explicit Rounding(std::uint32_t flags) : changes_((flags & kRounding) != kNearest) {
    if (changes_) set(flags & kRounding);
  }
  ~Rounding() {
    if (changes_) set(kNearest);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

private:
  static void set(std::uint32_t mode) {
#ifdef __SSE2__
    constexpr std::uint32_t kModes[] = {_MM_ROUND_NEAREST, _MM_ROUND_TOWARD_ZERO, _MM_ROUND_DOWN, _MM_ROUND_UP};
    _MM_SET_ROUNDING_MODE(kModes[mode]);
#else
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[mode]);
#endif
  }

  bool changes_;
};

/// Zero of its sign instead of a number that is too small to be normal.
template <class T>
T flushed(T value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

template <class T>
T operandUnder(std::uint32_t flags, T value) {
  return (flags & kFlush) != 0 ? flushed(value) : value;
}

template <class T>
T resultUnder(std::uint32_t flags, T value) {
  if ((flags & kFlush) != 0) value = flushed(value);
  if ((flags & kSaturate) != 0) value = value > T{0} ? std::min(value, T{1}) : T{0};  // a NaN too
  return value;
}

}  // namespace tbem::card
