// Polynomials with exact rational coefficients over atoms: symbols, floors, choices.
#pragma once

#include "compiler/support/Rational.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tbem::spec {

using AtomId = std::uint32_t;
/// Atoms in ascending order, each as often as its exponent says; empty: the constant term.
using Monomial = std::vector<AtomId>;

struct Term {
  Monomial monomial;
  Rational coefficient;
  friend bool operator==(const Term&, const Term&) = default;
};

/// Terms in ascending order of their monomials, no coefficient 0: equal polynomials are equal objects.
struct Poly {
  std::vector<Term> terms;
  bool isZero() const { return terms.empty(); }
  /// The value where it is a constant.
  std::optional<Rational> constant() const;
  Rational constantTerm() const;
  friend bool operator==(const Poly&, const Poly&) = default;
};

Poly constantPoly(Rational value);
inline Poly constantPoly(std::int64_t value) { return constantPoly(Rational::of(value)); }
Poly atomPoly(AtomId atom);

/// Arithmetic that notes when a coefficient leaves 64 bits or a polynomial grows beyond a fixed number of terms: what is made
/// from then on is not to be believed (`failed`).
class Algebra {
public:
  Poly add(const Poly& a, const Poly& b);
  Poly sub(const Poly& a, const Poly& b) { return add(a, scale(b, Rational::of(-1))); }
  Poly mul(const Poly& a, const Poly& b);
  Poly scale(const Poly& a, Rational factor);
  Rational times(Rational a, Rational b) { return keep(tbem::mul(a, b)); }
  Rational plus(Rational a, Rational b) { return keep(tbem::add(a, b)); }
  /// Smallest whole number > 0 that makes all coefficients of `a` whole.
  std::int64_t commonDenominator(const Poly& a);
  bool failed() const { return broken; }
  void fail() { broken = true; }

private:
  Rational keep(std::optional<Rational> value);
  bool broken = false;
};

/// Greatest common divisor of the coefficients, which are whole, but the constant one; 0 for a constant.
std::int64_t contentWithoutConstant(const Poly& a);
/// n / m where m divides it.
std::optional<Monomial> divide(const Monomial& n, const Monomial& m);

}  // namespace tbem::spec
