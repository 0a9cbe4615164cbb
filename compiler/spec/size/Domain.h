// What values a symbol may take.
#pragma once

#include "compiler/support/Rational.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::spec {

/// Numbers between two ends, each part of it and a fraction of 64 bits; nothing: no end.
struct Interval {
  std::optional<Rational> low, high;
  bool isEmpty() const { return low && high && compare(*low, *high) > 0; }
};

/// The lesser, the greater of two ends where both are given, else the one that is.
std::optional<Rational> smaller(std::optional<Rational> a, std::optional<Rational> b);
std::optional<Rational> larger(std::optional<Rational> a, std::optional<Rational> b);
/// What holds sums, products, multiples of numbers in the intervals. Ends beyond 64 bits are none.
Interval plus(const Interval& a, const Interval& b);
Interval times(const Interval& a, const Interval& b);
Interval scaled(const Interval& a, const Rational& factor);
/// floor(n / d), of a divisor above 0; else no ends.
Interval floorOfQuotient(const Interval& n, const Interval& d);

/// Integers from `low` to `high`, where given; or finitely many `levels`; or, where `isReal`, any number.
struct Domain {
  std::vector<Rational> levels;  ///< ascending, each once; empty: see `low`, `high`
  std::optional<std::int64_t> low, high;
  bool isReal = false;

  static Domain truth() { return {{Rational::of(0), Rational::of(1)}, {}, {}}; }
  /// What holds all values; an end that is no fraction of 64 bits is none.
  Interval hull() const;
  /// How many values; nothing where they are not finitely many, or beyond `limit`.
  std::optional<std::vector<Rational>> values(std::size_t limit) const;
  /// 0 where it is one, else the one next to it.
  Rational simplest() const;
  bool contains(const Rational& value) const;
};

}  // namespace tbem::spec
