// Intervals that contain what they stand for although they are computed in f64, and bounds of rounding errors.
//
// The standard model (Higham 2002, "Accuracy and Stability of Numerical Algorithms", section 2.2): an operation's result is exact
// but for a relative error of at most the unit roundoff u, and an absolute one where it underflows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tbem::certify {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Of f64, in which bounds are computed.
constexpr double kUnit = 0x1p-53;
/// More than what operations of f64 lose where they underflow.
constexpr double kTiny = 0x1p-1000;

/// Relative error of n operations, one after the other, in any order (Higham 2002, lemma 3.1); infinite where n u is no longer
/// small.
inline double gammaOf(double n, double unit) {
  const double nu = n * unit;
  return nu < 0.5 ? nu / (1 - nu) * (1 + 0x1p-40) : kInfinity;
}

/// From `low` to `high`. An infinite end: nothing is known, not even that it is a number.
struct Interval {
  double low = -kInfinity, high = kInfinity;

  static Interval at(double value) { return {value, value}; }
  bool isKnown() const { return std::isfinite(low) && std::isfinite(high); }
  double magnitude() const { return std::max(std::fabs(low), std::fabs(high)); }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Contains every number within `error` of one in [low, high], the ends of which took a few operations of f64.
inline Interval outward(double low, double high, double error = 0) {
  const Interval ends{low, high};
  if (!ends.isKnown() || !std::isfinite(error)) return {};
  const double all = error * (1 + 0x1p-40) + 0x1p-50 * ends.magnitude() + kTiny;
  return {low - all, high + all};
}

inline Interval hull(Interval a, Interval b) {
  if (!a.isKnown() || !b.isKnown()) return {};
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Of two intervals that both contain the number.
inline Interval meet(Interval a, Interval b) {
  if (!b.isKnown()) return a;
  if (!a.isKnown()) return b;
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

/// What is lost by the network's own arithmetic.
struct Arithmetic {
  double unit = 0x1p-24;      ///< unit roundoff
  double tiny = 0x1p-126;     ///< what an operation loses where its result underflows, which may be flushed to zero
  double largest = 0x1p+127;  ///< magnitudes beyond it are not vouched for: they may overflow
};

}  // namespace tbem::certify
