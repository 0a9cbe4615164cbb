// Exact rationals: the only number type of elaboration time. Integers are rationals with denominator 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbem {

/// num/den in lowest terms, den >= 1. Operations return nothing where the result leaves 64 bits or a divisor is 0.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;

  static Rational of(std::int64_t value) { return {value, 1}; }
  /// Lowest terms of n/d; nothing for d = 0 or a part that leaves 64 bits.
  static std::optional<Rational> make(__int128 n, __int128 d);
  /// "3", "0.25", "1e-5", "2.5e3" exactly; nothing for other text or a value out of range.
  static std::optional<Rational> parse(std::string_view text);
  /// Exactly this double where 64 bits allow; else the nearest that they do.
  static std::optional<Rational> fromDouble(double value);

  bool isInt() const { return den == 1; }
  double toDouble() const { return static_cast<double>(num) / static_cast<double>(den); }
  /// The double that is equal to it; nothing where there is none.
  std::optional<double> exactDouble() const;
  /// "3", "0.1" where the decimal ends, else "1/3".
  std::string str() const;
  friend bool operator==(const Rational&, const Rational&) = default;
};

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
/// Sign of a - b: -1, 0, 1. Exact.
int compare(Rational a, Rational b);

}  // namespace tbem
