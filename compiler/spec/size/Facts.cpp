// What is assumed: bounds of symbols, equations that define one, and what follows from them without search.
#include "compiler/spec/size/Normal.h"

#include <algorithm>

namespace tbem::spec {

namespace {
constexpr int kRounds = 32;
constexpr int kMaxDepth = 200;
}  // namespace

Interval Normalizer::boundsOf(AtomId atom) {
  if (intervals.size() < atoms.size()) intervals.resize(atoms.size());
  if (intervals[atom]) return *intervals[atom];
  if (depth > kMaxDepth) return {};
  ++depth;
  Interval made;
  const Atom one = atoms[atom];
  if (one.kind == AtomKind::Symbol) {
    made = ranges[static_cast<std::size_t>(one.symbol)];
  } else if (one.kind == AtomKind::Choice) {
    const Interval a = bounds(one.a);
    const Interval b = bounds(one.b);
    if (a.low && b.low) made.low = smaller(a.low, b.low);
    if (a.high && b.high) made.high = larger(a.high, b.high);
  } else if (one.kind == AtomKind::Floor) {
    made = floorOfQuotient(bounds(one.a), bounds(one.b));
  }
  --depth;
  if (intervals.size() < atoms.size()) intervals.resize(atoms.size());
  intervals[atom] = made;
  return made;
}

Interval Normalizer::bounds(const Poly& poly) {
  Interval sum{Rational{}, Rational{}};
  for (const Term& term : poly.terms) {
    Interval product{Rational::of(1), Rational::of(1)};
    for (std::size_t i = 0; i < term.monomial.size(); ++i) {
      const Interval one = boundsOf(term.monomial[i]);
      const bool square = i + 1 < term.monomial.size() && term.monomial[i + 1] == term.monomial[i];
      if (square) {
        Interval both = times(one, one);
        both.low = larger(both.low, Rational{});
        product = times(product, both);
        ++i;
      } else {
        product = times(product, one);
      }
    }
    sum = plus(sum, scaled(product, term.coefficient));
  }
  return sum;
}

std::optional<bool> Normalizer::decide(Formula::Kind kind, const Poly& poly) {
  using enum Formula::Kind;
  const Interval value = bounds(poly);
  const bool below = value.high && value.high->num < 0;
  const bool above = value.low && value.low->num > 0;
  const bool isZero = poly.isZero() || (value.low && value.high && value.low->num == 0 && value.high->num == 0);
  switch (kind) {
    case Zero:
      if (isZero) return true;
      if (below || above) return false;
      break;
    case NonZero:
      if (isZero) return false;
      if (below || above) return true;
      break;
    case NonNegative:
      if (isZero || (value.low && value.low->num >= 0)) return true;
      if (below) return false;
      break;
    case Positive:
      if (above) return true;
      if (value.high && value.high->num <= 0) return false;
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// p >= 0 where p - f or p - f - g cannot be negative for facts f, g >= 0.
bool Normalizer::followsFromFacts(const Poly& poly) {
  std::vector<Poly> sums;
  for (const Formula& fact : known) {
    if (fact.kind == Formula::Kind::NonNegative || fact.kind == Formula::Kind::Positive || fact.kind == Formula::Kind::Zero)
      sums.push_back(fact.poly);
    if (fact.kind == Formula::Kind::Zero) sums.push_back(algebra.scale(fact.poly, Rational::of(-1)));
  }
  const auto fits = [&](const Poly& sum) {
    const Interval gap = bounds(algebra.sub(poly, sum));
    return gap.low && gap.low->num >= 0;
  };
  if (std::any_of(sums.begin(), sums.end(), fits)) return true;
  if (sums.size() > 24) return false;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = i; j < sums.size(); ++j) {
      if (fits(algebra.add(sums[i], sums[j]))) return true;
    }
  }
  return false;
}

Formula Normalizer::simplify(const Formula& formula) {
  using enum Formula::Kind;
  if (formula.kind == And || formula.kind == Or) {
    std::vector<Formula> parts;
    for (const Formula& part : formula.parts) parts.push_back(simplify(part));
    return formula.kind == And ? allOf(std::move(parts)) : anyOf(std::move(parts));
  }
  std::unordered_map<AtomId, Poly> done;
  Formula made = rebuild(formula, done);
  const bool open = !made.isTrue() && !made.isFalse();
  if (!open) return made;
  const Formula opposite = negated(made);
  for (const Formula& fact : known) {
    if (fact.kind == made.kind && fact.poly == made.poly) return truth(true);
    if (fact.kind == opposite.kind && fact.poly == opposite.poly) return truth(false);
  }
  const auto holds = [&](const Formula& one) {
    if (one.kind == NonNegative) return followsFromFacts(one.poly);
    if (one.kind == Positive) return false;
    if (one.kind == Zero) return followsFromFacts(one.poly) && followsFromFacts(algebra.scale(one.poly, Rational::of(-1)));
    if (one.kind == NonZero) {
      const Formula more = literal(Positive, one.poly);
      const Formula less = literal(Positive, algebra.scale(one.poly, Rational::of(-1)));
      return (more.kind == NonNegative && followsFromFacts(more.poly)) ||
             (less.kind == NonNegative && followsFromFacts(less.poly));
    }
    return one.isTrue();
  };
  if (holds(made)) return truth(true);
  if (holds(opposite)) return truth(false);
  return made;
}

void Normalizer::assume(const Formula& fact) {
  learn(fact);
  // Each replacement may make other facts into equations: again until nothing changes.
  for (int round = 0; round < kRounds && !impossible && !failed(); ++round) {
    bool changed = false;
    for (std::size_t i = 0; i < known.size() && !changed; ++i) {
      if (known[i].kind != Formula::Kind::Zero) continue;
      const Poly equation = known[i].poly;
      changed = replace(equation);
    }
    const std::vector<Interval> before = ranges;
    std::vector<Formula> facts;
    facts.swap(known);
    for (const Formula& one : facts) {
      std::unordered_map<AtomId, Poly> done;
      learn(rebuild(one, done));
    }
    for (std::size_t s = 0; s < before.size() && !changed; ++s)
      changed = before[s].low != ranges[s].low || before[s].high != ranges[s].high;
    if (!changed) break;
  }
}

void Normalizer::learn(const Formula& fact) {
  using enum Formula::Kind;
  if (fact.isTrue()) return;
  if (fact.isFalse()) {
    impossible = true;
    return;
  }
  if (fact.kind == And) {
    for (const Formula& part : fact.parts) learn(part);
    return;
  }
  const auto same = [&](const Formula& one) { return one.kind == fact.kind && fact.kind != Or && one.poly == fact.poly; };
  if (std::any_of(known.begin(), known.end(), same)) return;
  known.push_back(fact);
  if (fact.kind == NonNegative || fact.kind == Positive || fact.kind == Zero) tighten(fact.poly);
  if (fact.kind == Zero) tighten(algebra.scale(fact.poly, Rational::of(-1)));
}

/// From p >= 0: bounds of each symbol that stands in it alone, given those of the others.
void Normalizer::tighten(const Poly& poly) {
  for (const Term& term : poly.terms) {
    if (term.monomial.size() != 1 || atoms[term.monomial.front()].kind != AtomKind::Symbol) continue;
    Poly rest;
    for (const Term& other : poly.terms) {
      if (&other != &term) rest.terms.push_back(other);
    }
    const Interval others = bounds(rest);
    if (!others.high) continue;
    // c x >= -rest >= -high(rest)
    const Atom atom = atoms[term.monomial.front()];
    Interval& range = ranges[static_cast<std::size_t>(atom.symbol)];
    const auto limit = div(Rational{-others.high->num, others.high->den}, term.coefficient);
    if (!limit) continue;
    const Interval before = range;
    if (term.coefficient.num > 0)
      range.low = larger(range.low, atom.integral ? ceilDiv(*limit, Rational::of(1)) : limit);
    else
      range.high = smaller(range.high, atom.integral ? floorDiv(*limit, Rational::of(1)) : limit);
    if (range.isEmpty()) impossible = true;
    if (before.low != range.low || before.high != range.high) intervals.clear();
  }
}

/// An equation p = 0 that gives a symbol by the others: x = rest; or d | x + rest, so that x = d q - rest for a fresh whole q.
bool Normalizer::replace(const Poly& equation) {
  const auto standsAlone = [&](std::size_t at, const Poly& poly) {
    const Term& term = poly.terms[at];
    if (term.monomial.size() != 1 || atoms[term.monomial.front()].kind != AtomKind::Symbol) return false;
    const SymbolId symbol = atoms[term.monomial.front()].symbol;
    if (!domains[static_cast<std::size_t>(symbol)].levels.empty()) return false;
    Formula rest;
    rest.kind = Formula::Kind::Zero;
    for (std::size_t i = 0; i < poly.terms.size(); ++i) {
      if (i != at) rest.poly.terms.push_back(poly.terms[i]);
    }
    std::vector<bool> seen;
    symbolsIn(rest, seen);
    const auto s = static_cast<std::size_t>(symbol);
    return s >= seen.size() || !seen[s];
  };
  const auto without = [&](std::size_t at, const Poly& poly) {
    Poly rest = poly;
    const Rational factor = rest.terms[at].coefficient;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(at));
    return algebra.scale(rest, Rational::of(factor.num > 0 ? -1 : 1));
  };
  for (std::size_t i = 0; i < equation.terms.size(); ++i) {
    const Rational factor = equation.terms[i].coefficient;
    if (!factor.isInt() || (factor.num != 1 && factor.num != -1) || !standsAlone(i, equation)) continue;
    const Poly by = without(i, equation);
    const Atom atom = atoms[equation.terms[i].monomial.front()];
    if (atom.integral && !isIntegral(by)) continue;
    return substitute(atom.symbol, by);
  }
  // n = d floor(n / d) + r, as `n mod d = r` says: each floor whose numerator the equation repeats.
  for (const Term& term : equation.terms) {
    for (const AtomId id : term.monomial) {
      if (atoms[id].kind == AtomKind::Floor && replaceDividend(equation, id)) return true;
    }
  }
  return false;
}

/// x by d q + r - rest for a fresh whole q, where the equation says x + rest = d floor((x + rest) / d) + r.
bool Normalizer::replaceDividend(const Poly& equation, AtomId id) {
  const Atom floor = atoms[id];
  if (!isIntegral(floor.b)) return false;
  const Poly repeated = algebra.sub(floor.a, algebra.mul(floor.b, atomPoly(id)));
  const auto mentions = [&](const Poly& poly, std::size_t symbol) -> bool {
    Formula holder;
    holder.kind = Formula::Kind::Zero;
    holder.poly = poly;
    std::vector<bool> seen;
    symbolsIn(holder, seen);
    return seen[symbol];
  };
  for (const std::int64_t sign : {1, -1}) {
    const Poly remainder = algebra.sub(repeated, algebra.scale(equation, Rational::of(sign)));
    if (!isIntegral(remainder)) continue;
    for (std::size_t i = 0; i < floor.a.terms.size(); ++i) {
      const Term& term = floor.a.terms[i];
      const bool unit = term.coefficient == Rational::of(1) || term.coefficient == Rational::of(-1);
      if (!unit || term.monomial.size() != 1 || atoms[term.monomial.front()].kind != AtomKind::Symbol) continue;
      const SymbolId symbol = atoms[term.monomial.front()].symbol;
      const auto s = static_cast<std::size_t>(symbol);
      Poly rest = floor.a;
      rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
      if (!domains[s].levels.empty() || mentions(rest, s) || mentions(floor.b, s) || mentions(remainder, s)) continue;
      const auto q = static_cast<SymbolId>(domains.size());
      domains.emplace_back();
      ranges.emplace_back();
      const Poly product = algebra.mul(floor.b, atomPoly(symbolAtom(q)));
      const Poly by = algebra.sub(algebra.add(product, remainder), rest);
      return substitute(symbol, algebra.scale(by, term.coefficient));
    }
  }
  return false;
}

bool Normalizer::substitute(SymbolId symbol, const Poly& by) {
  const auto s = static_cast<std::size_t>(symbol);
  const Interval range = ranges[s];
  replaced[static_cast<std::uint32_t>(symbol)] = by;
  numbers.clear();
  for (auto& [other, poly] : replaced) {
    std::unordered_map<AtomId, Poly> done;
    poly = rebuild(poly, done);
  }
  if (range.low) learn(literal(Formula::Kind::NonNegative, algebra.sub(by, constantPoly(*range.low))));
  if (range.high) learn(literal(Formula::Kind::NonNegative, algebra.sub(constantPoly(*range.high), by)));
  return !failed();
}

Formula Normalizer::rebuild(const Formula& formula, std::unordered_map<AtomId, Poly>& done) {
  using enum Formula::Kind;
  if (formula.isTrue() || formula.isFalse()) return formula;
  if (formula.kind != And && formula.kind != Or) return literal(formula.kind, rebuild(formula.poly, done));
  std::vector<Formula> parts;
  for (const Formula& part : formula.parts) parts.push_back(rebuild(part, done));
  return formula.kind == And ? allOf(std::move(parts)) : anyOf(std::move(parts));
}

Poly Normalizer::rebuild(const Poly& poly, std::unordered_map<AtomId, Poly>& done) {
  Poly sum;
  if (depth > kMaxDepth) {
    algebra.fail();
    return sum;
  }
  ++depth;
  for (const Term& term : poly.terms) {
    Poly product = constantPoly(term.coefficient);
    for (const AtomId id : term.monomial) {
      auto made = done.find(id);
      if (made == done.end()) {
        const Atom atom = atoms[id];
        Poly as = atomPoly(id);
        if (atom.kind == AtomKind::Symbol) {
          const auto known = replaced.find(static_cast<std::uint32_t>(atom.symbol));
          if (known != replaced.end()) as = known->second;
        } else if (atom.kind == AtomKind::Floor) {
          as = floorOf(rebuild(atom.a, done), rebuild(atom.b, done));
        } else if (atom.kind == AtomKind::Choice) {
          const Poly one = constantPoly(1);
          as = choice(simplify(rebuild(atom.condition, done)), {rebuild(atom.a, done), one}, {rebuild(atom.b, done), one}).a;
        } else {
          as = number(atom.expr).a;
        }
        made = done.emplace(id, std::move(as)).first;
      }
      product = algebra.mul(product, made->second);
    }
    sum = algebra.add(sum, product);
  }
  --depth;
  return sum;
}

}  // namespace tbem::spec
