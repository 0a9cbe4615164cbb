#include "compiler/support/Rational.h"

#include <cmath>
#include <limits>
#include <numeric>

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

std::optional<Rational> fromQuotient(Rational a, Rational b, bool up) {
  if (b.num == 0) return std::nullopt;
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
  const Wide common = gcd(n, d);
  if (common > 1) {
    n /= common;
    d /= common;
  }
  if (n > kMax || n < kMin || d > kMax) return std::nullopt;
  return Rational{static_cast<std::int64_t>(n), static_cast<std::int64_t>(d)};
}

std::optional<Rational> Rational::parse(std::string_view text) {
  Wide mantissa = 0;
  int scale = 0;
  std::size_t i = 0;
  bool digits = false;
  bool point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      mantissa = mantissa * 10 + (c - '0');
      if (mantissa > kMax * 1000) return std::nullopt;
      if (point) --scale;
    } else if (c != '_') {
      break;
    }
  }
  if (!digits) return std::nullopt;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    ++i;
    bool negative = false;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
    if (i == text.size()) return std::nullopt;
    int exponent = 0;
    for (; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      exponent = exponent * 10 + (text[i] - '0');
      if (exponent > 400) return std::nullopt;
    }
    scale += negative ? -exponent : exponent;
  }
  Wide denominator = 1;
  for (; scale < 0; ++scale) {
    if (mantissa % 10 == 0) {
      mantissa /= 10;
    } else {
      denominator *= 10;
      if (denominator > kMax) return std::nullopt;
    }
  }
  for (; scale > 0; --scale) {
    mantissa *= 10;
    if (mantissa > kMax) return std::nullopt;
  }
  return make(mantissa, denominator);
}

namespace {
/// The last convergent of n / d whose parts have 64 bits (Hardy & Wright 1979, section 10.2): nearer to it than 1 over the square
/// of its denominator. 0 <= n, 0 < d.
Rational convergent(Wide n, Wide d) {
  Wide num = 1, den = 0, numBefore = 0, denBefore = 1;
  while (d != 0) {
    const Wide part = n / d;
    if (part > kMax) break;
    const Wide nextNum = part * num + numBefore, nextDen = part * den + denBefore;
    if (nextNum > kMax || nextDen > kMax) break;
    numBefore = num;
    denBefore = den;
    num = nextNum;
    den = nextDen;
    const Wide rest = n % d;
    n = d;
    d = rest;
  }
  return den == 0 ? Rational{} : Rational{static_cast<std::int64_t>(num), static_cast<std::int64_t>(den)};
}
}  // namespace

std::optional<Rational> Rational::fromDouble(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  int exponent = 0;
  auto mantissa = static_cast<Wide>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  while (exponent < 0 && mantissa % 2 == 0 && mantissa != 0) {
    mantissa /= 2;
    ++exponent;
  }
  if (mantissa == 0) return Rational{};
  if (exponent > 62) return std::nullopt;
  if (exponent >= 0) return make(mantissa * (static_cast<Wide>(1) << exponent), 1);
  if (exponent >= -62) return make(mantissa, static_cast<Wide>(1) << -exponent);
  if (exponent < -120) return Rational{};  // below 2^-66
  Rational nearest = convergent(mantissa < 0 ? -mantissa : mantissa, static_cast<Wide>(1) << -exponent);
  if (mantissa < 0) nearest.num = -nearest.num;
  return nearest;
}

std::optional<double> Rational::exactDouble() const {
  const bool twos = (den & (den - 1)) == 0;
  return twos && static_cast<Wide>(static_cast<double>(num)) == num ? std::optional(toDouble()) : std::nullopt;
}

std::string Rational::str() const {
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
  if (a.den == 1 && b.den == 1) return Rational::make(static_cast<Wide>(a.num) + b.num, 1);
  return Rational::make(static_cast<Wide>(a.num) * b.den + static_cast<Wide>(b.num) * a.den, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> sub(Rational a, Rational b) {
  return Rational::make(static_cast<Wide>(a.num) * b.den - static_cast<Wide>(b.num) * a.den, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> mul(Rational a, Rational b) {
  return Rational::make(static_cast<Wide>(a.num) * b.num, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> div(Rational a, Rational b) {
  return Rational::make(static_cast<Wide>(a.num) * b.den, static_cast<Wide>(a.den) * b.num);
}
std::optional<Rational> floorDiv(Rational a, Rational b) { return fromQuotient(a, b, false); }
std::optional<Rational> ceilDiv(Rational a, Rational b) { return fromQuotient(a, b, true); }
std::optional<Rational> floorMod(Rational a, Rational b) {
  if (b.num == 0) return std::nullopt;
  // Over the common denominator, so that no part of the way leaves what the result does not.
  const Wide dividend = static_cast<Wide>(a.num) * b.den;
  const Wide divisor = static_cast<Wide>(b.num) * a.den;
  Wide rest = dividend % divisor;
  if (rest != 0 && (rest < 0) != (divisor < 0)) rest += divisor;
  return Rational::make(rest, static_cast<Wide>(a.den) * b.den);
}
std::optional<Rational> pow(Rational a, Rational b) {
  if (!b.isInt() || b.num < 0) return std::nullopt;
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
int compare(Rational a, Rational b) {
  const Wide left = static_cast<Wide>(a.num) * b.den;
  const Wide right = static_cast<Wide>(b.num) * a.den;
  return left < right ? -1 : (left > right ? 1 : 0);
}

}  // namespace tbem
