#include "compiler/design/Galois.h"

#include <cstddef>

namespace tbem::design {

namespace {

using Digits = std::vector<std::uint32_t>;  // coefficients, lowest first

Digits digitsOf(std::uint32_t value, std::uint32_t p, std::uint32_t length) {
  Digits digits(length);
  for (std::uint32_t& digit : digits) {
    digit = value % p;
    value /= p;
  }
  return digits;
}

std::uint32_t nameOf(const Digits& digits, std::uint32_t p, std::uint32_t length) {
  std::uint32_t value = 0;
  for (std::uint32_t i = length; i-- > 0;) value = value * p + digits[i];
  return value;
}

/// a modulo the monic polynomial m, in place; a keeps its length, high coefficients become 0.
void reduce(Digits& a, const Digits& m, std::uint32_t p) {
  const std::size_t degree = m.size() - 1;
  for (std::size_t i = a.size(); i-- > degree;) {
    const std::uint32_t lead = a[i];
    if (lead == 0) continue;
    for (std::size_t j = 0; j <= degree; ++j) {
      std::uint32_t& c = a[i - degree + j];
      c = (c + (p - lead) * m[j]) % p;
    }
  }
}

bool isZero(const Digits& a) {
  for (const std::uint32_t digit : a) {
    if (digit != 0) return false;
  }
  return true;
}

/// Trial division by every monic polynomial of degree 1 .. degree/2: the fields are small.
bool irreducible(const Digits& m, std::uint32_t p) {
  const auto degree = static_cast<std::uint32_t>(m.size() - 1);
  std::uint32_t count = 1;
  for (std::uint32_t d = 1; d * 2 <= degree; ++d) {
    count *= p;
    for (std::uint32_t low = 0; low < count; ++low) {
      Digits divisor = digitsOf(low, p, d + 1);
      divisor[d] = 1;
      Digits rest = m;
      reduce(rest, divisor, p);
      if (isZero(rest)) return false;
    }
  }
  return true;
}

Digits firstIrreducible(std::uint32_t p, std::uint32_t degree, std::uint32_t q) {
  for (std::uint32_t low = 0; low < q; ++low) {
    Digits candidate = digitsOf(low, p, degree + 1);
    candidate[degree] = 1;
    if (irreducible(candidate, p)) return candidate;
  }
  return {};  // unreachable: there is one of every degree over every GF(p)
}

}  // namespace

std::optional<PrimePower> primePower(std::uint32_t q) {
  if (q < 2) return std::nullopt;
  std::uint32_t prime = 2;
  while (prime * prime <= q && q % prime != 0) ++prime;
  if (q % prime != 0) prime = q;
  PrimePower result{prime, 0};
  while (q % prime == 0) {
    q /= prime;
    ++result.exponent;
  }
  return q == 1 ? std::optional(result) : std::nullopt;
}

std::optional<Galois> Galois::make(std::uint32_t q) {
  const auto power = primePower(q);
  if (!power || q > kLargest) return std::nullopt;
  const std::uint32_t p = power->prime, m = power->exponent;
  const Digits modulus = firstIrreducible(p, m, q);
  Galois field;
  field.q = q;
  field.sums.resize(std::size_t{q} * q);
  field.products.resize(std::size_t{q} * q);
  field.negatives.resize(q);
  field.squares.assign(q, false);
  // Sums digit by digit: the quotients by p are smaller elements, whose sums are there.
  for (std::uint32_t a = 0; a < q; ++a) {
    for (std::uint32_t b = 0; b < q; ++b) {
      std::uint32_t sum = a + b;
      if (m == 1) {
        sum = sum < p ? sum : sum - p;
      } else if (a != 0) {
        sum = (a % p + b % p) % p + p * field.add(a / p, b / p);
      }
      field.sums[std::size_t{a} * q + b] = sum;
      if (sum == 0) field.negatives[a] = b;
    }
  }
  // Products with a by the digits of b: a b = a (b - d x^e) + d (a x^e), where e is the place of the highest digit d.
  std::vector<std::uint32_t> shifted(m);
  for (std::uint32_t a = 0; a < q; ++a) {
    Digits power = digitsOf(a, p, m + 1);
    for (std::uint32_t e = 0; e < m; ++e) {
      shifted[e] = nameOf(power, p, m);
      power.insert(power.begin(), 0);
      reduce(power, modulus, p);
      power.resize(m + 1);
    }
    std::uint32_t* products = field.products.data() + std::size_t{a} * q;
    products[0] = 0;
    for (std::uint32_t b = 1, place = 1, e = 0; b < q; ++b) {
      if (b == place * p) {
        place = b;
        ++e;
      }
      products[b] = field.add(products[b - place], shifted[e]);
    }
    if (a != 0) field.squares[products[a]] = true;
  }
  return field;
}

int Galois::quadraticCharacter(std::uint32_t a) const { return a == 0 ? 0 : squares[a] ? 1 : -1; }

}  // namespace tbem::design
