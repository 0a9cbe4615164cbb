#include "compiler/spec/size/Polynomial.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tbem::spec {

namespace {
constexpr std::size_t kMaxTerms = 400;
bool isZero(const Rational& value) { return value.num == 0; }
}  // namespace

std::optional<Rational> Poly::constant() const {
  if (terms.empty()) return Rational{};
  if (terms.size() == 1 && terms.front().monomial.empty()) return terms.front().coefficient;
  return std::nullopt;
}

Rational Poly::constantTerm() const {
  return !terms.empty() && terms.front().monomial.empty() ? terms.front().coefficient : Rational{};
}

Poly constantPoly(Rational value) {
  Poly made;
  if (!isZero(value)) made.terms.push_back({{}, value});
  return made;
}

Poly atomPoly(AtomId atom) { return {{{{atom}, Rational::of(1)}}}; }

Rational Algebra::keep(std::optional<Rational> value) {
  if (!value) broken = true;
  return value.value_or(Rational{});
}

Poly Algebra::add(const Poly& a, const Poly& b) {
  Poly made;
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->monomial < right->monomial)) {
      made.terms.push_back(*left++);
    } else if (left == a.terms.end() || right->monomial < left->monomial) {
      made.terms.push_back(*right++);
    } else {
      const Rational sum = plus(left->coefficient, right->coefficient);
      if (!isZero(sum)) made.terms.push_back({left->monomial, sum});
      ++left;
      ++right;
    }
  }
  if (made.terms.size() > kMaxTerms) broken = true;
  return made;
}

Poly Algebra::scale(const Poly& a, Rational factor) {
  Poly made;
  if (isZero(factor)) return made;
  for (const Term& term : a.terms) made.terms.push_back({term.monomial, times(term.coefficient, factor)});
  return made;
}

Poly Algebra::mul(const Poly& a, const Poly& b) {
  Poly made;
  if (a.terms.size() * b.terms.size() > kMaxTerms * 4) broken = true;
  if (broken) return made;
  for (const Term& left : a.terms) {
    Poly row;
    for (const Term& right : b.terms) {
      Term term;
      std::merge(left.monomial.begin(), left.monomial.end(), right.monomial.begin(), right.monomial.end(),
                 std::back_inserter(term.monomial));
      term.coefficient = times(left.coefficient, right.coefficient);
      row.terms.push_back(std::move(term));
    }
    std::sort(row.terms.begin(), row.terms.end(), [](const Term& x, const Term& y) { return x.monomial < y.monomial; });
    made = add(made, row);
  }
  return made;
}

std::int64_t Algebra::commonDenominator(const Poly& a) {
  Rational common = Rational::of(1);
  for (const Term& term : a.terms)
    common = times(common, Rational::of(term.coefficient.den / std::gcd(common.num, term.coefficient.den)));
  return common.num == 0 ? 1 : common.num;
}

std::int64_t contentWithoutConstant(const Poly& a) {
  std::int64_t content = 0;
  for (const Term& term : a.terms) {
    if (!term.monomial.empty()) content = std::gcd(content, term.coefficient.num);
  }
  return content;
}

std::optional<Monomial> divide(const Monomial& n, const Monomial& m) {
  if (!std::includes(n.begin(), n.end(), m.begin(), m.end())) return std::nullopt;
  Monomial rest;
  std::set_difference(n.begin(), n.end(), m.begin(), m.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace tbem::spec
