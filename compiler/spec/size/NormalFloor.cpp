// floor(n / d) of polynomials.
#include "compiler/spec/size/Normal.h"

#include <algorithm>
#include <numeric>

namespace tbem::spec {

namespace {
/// Greatest common divisor of all coefficients, which are whole.
std::int64_t content(const Poly& a) {
  std::int64_t common = 0;
  for (const Term& term : a.terms) common = std::gcd(common, term.coefficient.num);
  return common;
}

/// Atoms that every term of `a` has, as often as all have them, within those of `common`.
Monomial sharedBy(const Poly& a, Monomial common) {
  for (const Term& term : a.terms) {
    Monomial both;
    std::set_intersection(common.begin(), common.end(), term.monomial.begin(), term.monomial.end(), std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

Poly dividedBy(const Poly& a, const Monomial& monomial, std::int64_t factor) {
  Poly made;
  for (const Term& term : a.terms)
    made.terms.push_back({*divide(term.monomial, monomial), {term.coefficient.num / factor, term.coefficient.den}});
  std::sort(made.terms.begin(), made.terms.end(), [](const Term& x, const Term& y) { return x.monomial < y.monomial; });
  return made;
}

/// floor(a / b) of whole numbers, b > 0.
std::int64_t floorWhole(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }
}  // namespace

void Normalizer::cancelCommon(Poly& n, Poly& d) {
  const std::int64_t factor = std::gcd(content(n), content(d));
  const Monomial common = sharedBy(n, sharedBy(d, d.terms.front().monomial));
  if (factor <= 1 && common.empty()) return;
  n = dividedBy(n, common, factor == 0 ? 1 : factor);
  d = dividedBy(d, common, factor == 0 ? 1 : factor);
}

/// Takes whole multiples of `d` out of `n`; returns their factor.
Poly Normalizer::pullMultiples(Poly& n, const Poly& d) {
  Poly out;
  const Term& lead = d.terms.back();
  for (int round = 0; round < 64 && !algebra.failed(); ++round) {
    bool found = false;
    for (const Term& term : n.terms) {
      const std::optional<Monomial> rest = divide(term.monomial, lead.monomial);
      if (!rest) continue;
      const std::int64_t quotient = floorWhole(term.coefficient.num, lead.coefficient.num);
      Poly factor;
      if (quotient != 0) factor.terms.push_back({*rest, Rational::of(quotient)});
      if (factor.isZero() || !isIntegral(factor)) continue;
      Poly left = algebra.sub(n, algebra.mul(factor, d));
      if (d.terms.size() > 1 && left.terms.size() >= n.terms.size()) continue;
      out = algebra.add(out, factor);
      n = std::move(left);
      found = true;
      break;
    }
    if (!found) break;
  }
  return out;
}

/// floor((floor(x / a) + k) / d) as floor((x + k a) / (a d)). False where that is not its form.
bool Normalizer::flatten(Poly& n, Poly& d) {
  const Interval divisor = bounds(d);
  if (!divisor.low || divisor.low->num <= 0 || !isIntegral(d) || !isIntegral(n)) return false;
  for (std::size_t i = 0; i < n.terms.size(); ++i) {
    const Term& term = n.terms[i];
    if (term.monomial.size() != 1 || term.coefficient != Rational::of(1)) continue;
    const Atom inner = atoms[term.monomial.front()];
    if (inner.kind != AtomKind::Floor) continue;
    Poly rest = n;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
    n = algebra.add(inner.a, algebra.mul(rest, inner.b));
    d = algebra.mul(inner.b, d);
    return true;
  }
  return false;
}

Poly Normalizer::floorOf(Poly n, Poly d) {
  Poly out;
  for (int round = 0; round < 64; ++round) {
    if (n.isZero() || d.isZero() || algebra.failed()) return out;
    const std::int64_t below = algebra.commonDenominator(n);
    const std::int64_t other = algebra.commonDenominator(d);
    const Rational common = algebra.times(Rational::of(below), Rational::of(other / std::gcd(below, other)));
    n = algebra.scale(n, common);
    d = algebra.scale(d, common);
    if (d.terms.back().coefficient.num < 0) {
      n = algebra.scale(n, Rational::of(-1));
      d = algebra.scale(d, Rational::of(-1));
    }
    cancelCommon(n, d);
    out = algebra.add(out, pullMultiples(n, d));
    if (n.isZero()) return out;
    if (d == constantPoly(1) && isIntegral(n)) return algebra.add(out, n);
    if (!flatten(n, d)) break;
  }
  // 0 <= n < d
  const Interval value = bounds(n);
  if (value.low && value.low->num >= 0) {
    const Interval gap = bounds(algebra.sub(d, n));
    if (gap.low && gap.low->num > 0) return out;
  }
  Atom atom;
  atom.kind = AtomKind::Floor;
  atom.a = std::move(n);
  atom.b = std::move(d);
  return algebra.add(out, atomPoly(intern(std::move(atom))));
}

}  // namespace tbem::spec
