// The only number type of elaboration time: exact rationals, and f64 for what is none of 64 bits. Integers are rationals with
// denominator 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbem {

/// num/den in lowest terms, den >= 1; or, where den is 0, the finite f64 whose bits `num` holds. That form is for values that no
/// such fraction equals, so that equal numbers have equal parts; `num` has the sign of the number, and is 0 for 0 alone, in both.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;

  static Rational of(std::int64_t value) { return {value, 1}; }
  /// Lowest terms of n/d; nothing for d = 0 or a part that leaves 64 bits.
  static std::optional<Rational> make(__int128 n, __int128 d);
  /// "3", "0.25", "1e-5", "2.5e3" exactly; what has a point or an exponent and is no fraction of 64 bits as the nearest f64.
  /// Nothing for other text, a whole number beyond 64 bits, and what f64 takes for infinite or, wrongly, for 0.
  static std::optional<Rational> parse(std::string_view text);
  /// Exactly this double; nothing for an infinite one and NaN.
  static std::optional<Rational> fromDouble(double value);

  bool isInt() const { return den == 1; }
  bool isExact() const { return den != 0; }
  /// Whether whole numbers of its size leave 64 bits.
  bool isBeyondWhole() const;
  double toDouble() const;
  /// The double that is equal to it; nothing where there is none.
  std::optional<double> exactDouble() const;
  /// "3", "0.1" where the decimal ends, else "1/3"; "1e30", the shortest decimal that is read as this f64.
  std::string str() const;
  friend bool operator==(const Rational&, const Rational&) = default;
};

// Exact arithmetic: nothing where the result leaves 64 bits, a divisor is 0 or an operand is not exact.
std::optional<Rational> add(Rational a, Rational b);
std::optional<Rational> sub(Rational a, Rational b);
std::optional<Rational> mul(Rational a, Rational b);
std::optional<Rational> div(Rational a, Rational b);
/// floor(a / b), for b > 0 or b < 0.
std::optional<Rational> floorDiv(Rational a, Rational b);
/// ceil(a / b).
std::optional<Rational> ceilDiv(Rational a, Rational b);
/// a - b * floor(a / b).
std::optional<Rational> floorMod(Rational a, Rational b);
/// a ** b for an integer b >= 0.
std::optional<Rational> pow(Rational a, Rational b);
/// Sign of a - b: -1, 0, 1. Exact, of any two numbers.
int compare(Rational a, Rational b);

}  // namespace tbem
