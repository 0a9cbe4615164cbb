#include "compiler/support/Rational.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace tbem {

namespace {
using Wide = __int128;
constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
constexpr Wide kMin = std::numeric_limits<std::int64_t>::min();

Wide gcd(Wide a, Wide b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool bothExact(const Rational& a, const Rational& b) { return a.isExact() && b.isExact(); }

std::optional<Rational> fromQuotient(Rational a, Rational b, bool up) {
  if (b.num == 0 || !bothExact(a, b)) return std::nullopt;
  Wide n = static_cast<Wide>(a.num) * b.den;
  Wide d = static_cast<Wide>(a.den) * b.num;
  if (d < 0) {
    n = -n;
    d = -d;
  }
  Wide q = n / d;
  const Wide rest = n % d;
  if (!up && rest < 0) --q;
  if (up && rest > 0) ++q;
  return Rational::make(q, 1);
}
}  // namespace

std::optional<Rational> Rational::make(Wide n, Wide d) {
  if (d == 0) return std::nullopt;
  if (d < 0) {
    n = -n;
    d = -d;
  }
  const Wide common = d == 1 ? 1 : gcd(n, d);
  if (common > 1) {
    n /= common;
    d /= common;
  }
  if (n > kMax || n < kMin || d > kMax) return std::nullopt;
  return Rational{static_cast<std::int64_t>(n), static_cast<std::int64_t>(d)};
}

namespace {
/// A decimal taken apart: digits * 10 ** scale, the digits without what may be left out at either end.
struct Decimal {
  std::string digits;
  std::int64_t scale = 0;
  bool isReal = false;  ///< it has a point or an exponent
};

constexpr std::int64_t kMaxScale = 1'000'000;  // far beyond f64

std::optional<Decimal> takenApart(std::string_view text) {
  Decimal number;
  std::size_t i = 0;
  bool hasDigits = false;
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      hasDigits = true;
      if (c != '0' || !number.digits.empty()) number.digits += c;
      if (point) --number.scale;
    } else if (c != '_') {
      break;
    }
  }
  if (!hasDigits) return std::nullopt;
  number.isReal = point;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    ++i;
    number.isReal = true;
    const bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (i == text.size()) return std::nullopt;
    std::int64_t exponent = 0;
    for (; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      exponent = std::min(exponent * 10 + (text[i] - '0'), kMaxScale);
    }
    number.scale += negative ? -exponent : exponent;
  }
  for (; !number.digits.empty() && number.digits.back() == '0' && number.scale < 0; ++number.scale) number.digits.pop_back();
  return number;
}

/// The fraction that the decimal is; nothing where 64 bits do not hold it.
std::optional<Rational> exactly(const Decimal& number) {
  constexpr std::size_t kMostDigits = 36;  // a mantissa that a power of ten may still bring down to 64 bits
  if (number.digits.size() > kMostDigits) return std::nullopt;
  Wide mantissa = 0;
  for (const char digit : number.digits) mantissa = mantissa * 10 + (digit - '0');
  if (mantissa == 0) return Rational{};
  Wide denominator = 1;
  for (std::int64_t left = number.scale; left < 0; ++left) {
    denominator *= 10;
    if (denominator > kMax * 1000) return std::nullopt;
  }
  for (std::int64_t left = number.scale; left > 0; --left) {
    mantissa *= 10;
    if (mantissa > kMax) return std::nullopt;
  }
  return Rational::make(mantissa, denominator);
}

/// Digits alone, and so few that 64 bits hold them, as most numbers are written; nothing for others.
std::optional<Rational> fewDigits(std::string_view text) {
  constexpr std::size_t kFew = 18;
  if (text.empty() || text.size() > kFew) return std::nullopt;
  std::int64_t whole = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    whole = whole * 10 + (c - '0');
  }
  return Rational::of(whole);
}
}  // namespace

std::optional<Rational> Rational::parse(std::string_view text) {
  if (const std::optional<Rational> few = fewDigits(text)) return few;
  const std::optional<Decimal> number = takenApart(text);
  if (!number) return std::nullopt;
  if (const std::optional<Rational> exact = exactly(*number)) return exact;
  if (!number->isReal) return std::nullopt;
  const std::string plain = number->digits + "e" + std::to_string(number->scale);
  double nearest = 0;
  const auto read = std::from_chars(plain.data(), plain.data() + plain.size(), nearest);
  return read.ec == std::errc() && nearest != 0 ? fromDouble(nearest) : std::nullopt;
}

std::optional<Rational> Rational::fromDouble(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0) return Rational{};
  int exponent = 0;
  auto mantissa = static_cast<Wide>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  for (; exponent < 0 && mantissa % 2 == 0; ++exponent) mantissa /= 2;
  std::optional<Rational> exact;
  if (exponent >= 0 && exponent <= 62) exact = make(mantissa * (static_cast<Wide>(1) << exponent), 1);
  if (exponent < 0 && exponent >= -62) exact = make(mantissa, static_cast<Wide>(1) << -exponent);
  return exact ? *exact : Rational{std::bit_cast<std::int64_t>(value), 0};
}

double Rational::toDouble() const {
  if (!isExact()) return std::bit_cast<double>(num);
  constexpr std::int64_t kExactly = std::int64_t{1} << 53;
  if (den == 1 || (num <= kExactly && num >= -kExactly && den <= kExactly))
    return static_cast<double>(num) / static_cast<double>(den);
  // The quotient to 64 bits or more, its last bit telling that some are left: rounded once.
  Wide size = num < 0 ? -static_cast<Wide>(num) : num;
  int shift = 0;
  for (; size >> 125 == 0; ++shift) size <<= 1;
  const Wide quotient = size / den | (size % den != 0 ? 1 : 0);
  const double rounded = std::ldexp(static_cast<double>(quotient), -shift);
  return num < 0 ? -rounded : rounded;
}

bool Rational::isBeyondWhole() const { return !isExact() && std::abs(toDouble()) > 1; }

std::optional<double> Rational::exactDouble() const {
  if (!isExact()) return toDouble();
  const bool twos = (den & (den - 1)) == 0;
  return twos && static_cast<Wide>(static_cast<double>(num)) == num ? std::optional(toDouble()) : std::nullopt;
}

namespace {
/// The shortest decimal that is read as this double, as the language writes it: "1.5e30", "2e-7".
std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), end.ptr);
  const std::size_t at = text.find('e');
  std::string_view exponent = text.substr(at + 1);
  const bool negative = exponent.front() == '-';
  exponent.remove_prefix(std::min(exponent.find_first_not_of("+-0"), exponent.size() - 1));
  return std::string(text.substr(0, at)) + (negative ? "e-" : "e") + std::string(exponent);
}
}  // namespace

std::string Rational::str() const {
  if (!isExact()) return shortest(toDouble());
  if (den == 1) return std::to_string(num);
  std::int64_t rest = den;
  int twos = 0;
  int fives = 0;
  for (; rest % 2 == 0; rest /= 2) ++twos;
  for (; rest % 5 == 0; rest /= 5) ++fives;
  const int places = std::max(twos, fives);
  if (rest != 1 || places > 17) return std::to_string(num) + "/" + std::to_string(den);
  Wide scaled = num < 0 ? -static_cast<Wide>(num) : static_cast<Wide>(num);
  for (int i = 0; i < places; ++i) scaled *= 10;
  scaled /= den;
  std::string digits;
  for (Wide left = scaled; left > 0 || static_cast<int>(digits.size()) <= places; left /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
  }
  digits.insert(digits.size() - static_cast<std::size_t>(places), ".");
  return (num < 0 ? "-" : "") + digits;
}

std::optional<Rational> add(Rational a, Rational b) {
  if (std::int64_t whole = 0; a.den == 1 && b.den == 1)
    return __builtin_add_overflow(a.num, b.num, &whole) ? std::nullopt : std::optional(Rational::of(whole));
  return Rational::make(static_cast<Wide>(a.num) * b.den + static_cast<Wide>(b.num) * a.den, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> sub(Rational a, Rational b) {
  if (std::int64_t whole = 0; a.den == 1 && b.den == 1)
    return __builtin_sub_overflow(a.num, b.num, &whole) ? std::nullopt : std::optional(Rational::of(whole));
  return Rational::make(static_cast<Wide>(a.num) * b.den - static_cast<Wide>(b.num) * a.den, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> mul(Rational a, Rational b) {
  if (std::int64_t whole = 0; a.den == 1 && b.den == 1)
    return __builtin_mul_overflow(a.num, b.num, &whole) ? std::nullopt : std::optional(Rational::of(whole));
  return Rational::make(static_cast<Wide>(a.num) * b.num, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> div(Rational a, Rational b) {
  if (!bothExact(a, b)) return std::nullopt;
  return Rational::make(static_cast<Wide>(a.num) * b.den, static_cast<Wide>(a.den) * b.num);
}
std::optional<Rational> floorDiv(Rational a, Rational b) { return fromQuotient(a, b, false); }
std::optional<Rational> ceilDiv(Rational a, Rational b) { return fromQuotient(a, b, true); }
std::optional<Rational> floorMod(Rational a, Rational b) {
  if (b.num == 0 || !bothExact(a, b)) return std::nullopt;
  // Over the common denominator, so that no part of the way leaves what the result does not.
  const Wide dividend = static_cast<Wide>(a.num) * b.den;
  const Wide divisor = static_cast<Wide>(b.num) * a.den;
  Wide rest = dividend % divisor;
  if (rest != 0 && (rest < 0) != (divisor < 0)) rest += divisor;
  return Rational::make(rest, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> pow(Rational a, Rational b) {
  if (!a.isExact() || !b.isInt() || b.num < 0) return std::nullopt;
  Rational result = Rational::of(1);
  for (std::int64_t exponent = b.num; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) {
      const std::optional<Rational> next = mul(result, a);
      if (!next) return std::nullopt;
      result = *next;
    }
    if (exponent > 1) {
      const std::optional<Rational> square = mul(a, a);
      if (!square) return std::nullopt;
      a = *square;
    }
  }
  return result;
}
namespace {
int sign(Wide value) { return value < 0 ? -1 : (value > 0 ? 1 : 0); }

/// compare() of an f64 that is no fraction of 64 bits with one that is.
int compareMixed(double value, const Rational& exact) {
  if (sign(exact.num) != (value < 0 ? -1 : 1)) return value < 0 ? -1 : 1;
  if (std::abs(value) > 1) return value < 0 ? -1 : 1;  // beyond 64 bits
  // Below 2^-10, then: mantissa / 2^shift against num / den, so mantissa * den against num * 2^shift.
  int exponent = 0;
  const auto mantissa = static_cast<Wide>(std::ldexp(std::frexp(value, &exponent), 53));
  const int shift = 53 - exponent;
  const Wide left = mantissa * exact.den;  // below 2^116
  if (shift >= 116) return -sign(exact.num);
  const Wide size = exact.num < 0 ? -static_cast<Wide>(exact.num) : exact.num;
  if (size >> (126 - shift) != 0) return -sign(exact.num);
  const Wide right = static_cast<Wide>(exact.num) * (static_cast<Wide>(1) << shift);
  return sign(left - right);
}
}  // namespace

int compare(Rational a, Rational b) {
  if (a.den == 1 && b.den == 1) return a.num < b.num ? -1 : (a.num > b.num ? 1 : 0);
  if (!a.isExact() && !b.isExact()) return a.toDouble() < b.toDouble() ? -1 : (a.toDouble() > b.toDouble() ? 1 : 0);
  if (!a.isExact()) return compareMixed(a.toDouble(), b);
  if (!b.isExact()) return -compareMixed(b.toDouble(), a);
  const Wide left = static_cast<Wide>(a.num) * b.den;
  const Wide right = static_cast<Wide>(b.num) * a.den;
  return left < right ? -1 : (left > right ? 1 : 0);
}

}  // namespace tbem
