#include "compiler/design/field/Galois.h"

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
  field.negatives.resize(q);
  if (m == 1) {
    for (std::uint32_t a = 1; a < q; ++a) field.negatives[a] = static_cast<std::uint16_t>(q - a);
  } else {
    field.findSums(p);
  }
  field.findPowers(p, modulus);
  return field;
}

/// Digit by digit: the quotients by p are smaller elements, whose sums are there.
void Galois::findSums(std::uint32_t p) {
  sums.resize(std::size_t{q} * q);
  for (std::uint32_t a = 0; a < q; ++a) {
    std::uint16_t* own = sums.data() + std::size_t{a} * q;
    const std::uint16_t* quotients = sums.data() + std::size_t{a / p} * q;
    std::uint32_t low = a % p;  // the sum of the lowest digits
    for (std::uint32_t b = 0, quotient = 0, digit = 0; b < q; ++b) {
      const std::uint32_t sum = low + p * (a < p ? quotient : quotients[quotient]);
      own[b] = static_cast<std::uint16_t>(sum);
      if (sum == 0) negatives[a] = static_cast<std::uint16_t>(b);
      low = low + 1 == p ? 0 : low + 1;
      if (++digit == p) {
        digit = 0;
        ++quotient;
      }
    }
  }
}

/// Of the first element that generates all others but 0.
void Galois::findPowers(std::uint32_t p, const std::vector<std::uint32_t>& modulus) {
  const auto m = static_cast<std::uint32_t>(modulus.size() - 1);
  powers.resize(std::size_t{2} * (q - 1));
  logarithms.resize(q);
  for (std::uint32_t g = q == 2 ? 1 : 2;; ++g) {
    // The products of g with the powers of x, and with them those with everything, by digits.
    std::vector<std::uint32_t> shifted(m), products(q, 0);
    Digits power = digitsOf(g, p, m + 1);
    for (std::uint32_t& each : shifted) {
      each = nameOf(power, p, m);
      power.insert(power.begin(), 0);
      reduce(power, modulus, p);
      power.resize(m + 1);
    }
    for (std::uint32_t b = 1, place = 1, e = 0; b < q; ++b) {
      if (b == place * p) {
        place = b;
        ++e;
      }
      products[b] = add(products[b - place], shifted[e]);
    }
    std::uint32_t exponent = 0, value = 1;
    do {
      powers[exponent] = powers[exponent + q - 1] = static_cast<std::uint16_t>(value);
      logarithms[value] = static_cast<std::uint16_t>(exponent);
      value = products[value];
      ++exponent;
    } while (value != 1);
    if (exponent == q - 1) return;
  }
}

int Galois::quadraticCharacter(std::uint32_t a) const { return a == 0 ? 0 : logarithms[a] % 2 == 0 ? 1 : -1; }

}  // namespace tbem::design
