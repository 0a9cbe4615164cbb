// Numbers as quotients of polynomials.
#include "compiler/spec/size/Normal.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprNode;
using sema::ExprOp;

namespace {
constexpr int kMaxDepth = 600;
constexpr std::int64_t kMaxExponent = 8;

void write(std::string& text, const Poly& poly) {
  for (const Term& term : poly.terms) {
    text += std::to_string(term.coefficient.num) + "/" + std::to_string(term.coefficient.den);
    for (const AtomId atom : term.monomial) text += "*" + std::to_string(atom);
    text += "+";
  }
  text += ";";
}

void write(std::string& text, const Formula& formula) {
  text += "(" + std::to_string(static_cast<int>(formula.kind));
  write(text, formula.poly);
  for (const Formula& part : formula.parts) write(text, part);
  text += ")";
}

std::uint32_t raw(ExprId id) { return static_cast<std::uint32_t>(id); }
}  // namespace

Normalizer::Normalizer(const sema::ExprPool& pool, std::vector<Domain> given) : pool(pool), domains(std::move(given)) {
  domains.resize(pool.symbolCount());
  fresh = static_cast<std::uint32_t>(pool.symbolCount());
  for (std::uint32_t s = 0; s < fresh; ++s) {
    if (pool[static_cast<SymbolId>(s)].runtime) domains[s].isReal = true;
    ranges.push_back(domains[s].hull());
  }
}

AtomId Normalizer::intern(Atom atom) {
  std::string key = std::to_string(static_cast<int>(atom.kind)) + ":" + std::to_string(static_cast<std::uint32_t>(atom.symbol)) +
                    ":" + std::to_string(raw(atom.expr)) + ":";
  write(key, atom.a);
  write(key, atom.b);
  if (atom.kind == AtomKind::Choice) write(key, atom.condition);
  const auto [place, isNew] = byText.emplace(std::move(key), static_cast<AtomId>(atoms.size()));
  if (isNew) atoms.push_back(std::move(atom));
  return place->second;
}

AtomId Normalizer::symbolAtom(SymbolId symbol) {
  Atom atom;
  atom.kind = AtomKind::Symbol;
  atom.symbol = symbol;
  const auto at = static_cast<std::size_t>(symbol);
  atom.integral = !domains[at].isReal;
  return intern(std::move(atom));
}

bool Normalizer::isIntegral(const Poly& poly) const {
  return std::all_of(poly.terms.begin(), poly.terms.end(), [&](const Term& term) {
    return term.coefficient.isInt() &&
           std::all_of(term.monomial.begin(), term.monomial.end(), [&](AtomId atom) { return atoms[atom].integral; });
  });
}

/// Makes operands before their users, so that no chain of operators is walked by recursion.
void Normalizer::prepare(ExprId root) {
  for (const ExprId id : pool.cone(root)) {
    if (!isTruth(pool[id].op) && pool[id].op != ExprOp::Select) number(id);
  }
}

Fraction Normalizer::number(ExprId expr) {
  if (const auto made = numbers.find(raw(expr)); made != numbers.end()) return made->second;
  if (depth > kMaxDepth || failed()) {
    algebra.fail();
    return {{}, constantPoly(1)};
  }
  ++depth;
  Fraction made = makeNumber(expr);
  --depth;
  numbers.emplace(raw(expr), made);
  return made;
}

Fraction Normalizer::opaque(ExprId expr, bool integral) {
  Atom atom;
  atom.kind = AtomKind::Opaque;
  atom.expr = expr;
  atom.integral = integral;
  return {atomPoly(intern(std::move(atom))), constantPoly(1)};
}

/// condition ? a : b. Fractions are chosen by their quotient only where both are polynomials.
Fraction Normalizer::choice(Formula condition, const Fraction& a, const Fraction& b) {
  if (condition.isTrue() || (a.a == b.a && a.b == b.b)) return a;
  if (condition.isFalse()) return b;
  const auto pick = [&](const Poly& x, const Poly& y) {
    if (x == y) return x;
    Atom atom;
    atom.kind = AtomKind::Choice;
    atom.a = x;
    atom.b = y;
    atom.condition = condition;
    atom.integral = isIntegral(x) && isIntegral(y);
    return atomPoly(intern(std::move(atom)));
  };
  return {pick(a.a, b.a), pick(a.b, b.b)};
}

Fraction Normalizer::makeNumber(ExprId expr) {
  const ExprNode& node = pool[expr];
  const Poly one = constantPoly(1);
  switch (node.op) {
    case ExprOp::Constant:
      return node.value.isExact() ? Fraction{constantPoly(node.value), one} : opaque(expr, false);
    case ExprOp::Symbol: {
      const std::vector<Rational>& levels = domains[static_cast<std::size_t>(node.symbol)].levels;
      if (levels.size() == 1 && levels.front().isExact()) return {constantPoly(levels.front()), one};
      const auto known = replaced.find(static_cast<std::uint32_t>(node.symbol));
      return {known != replaced.end() ? known->second : atomPoly(symbolAtom(node.symbol)), one};
    }
    case ExprOp::Step:
      return opaque(expr, true);
    case ExprOp::Select:
      return choice(formula(node.a), number(node.b), number(node.c));
    default:
      break;
  }
  if (isTruth(pool[expr].op)) return choice(formula(expr), {one, one}, {{}, one});
  return combine(node.op, number(node.a), number(node.b), expr);
}

Fraction Normalizer::combine(ExprOp op, const Fraction& a, const Fraction& b, ExprId expr) {
  Algebra& g = algebra;
  const Poly one = constantPoly(1);
  switch (op) {
    case ExprOp::Add:
    case ExprOp::Sub: {
      const Poly right = op == ExprOp::Sub ? g.scale(b.a, Rational::of(-1)) : b.a;
      if (a.b == b.b) return {g.add(a.a, right), a.b};
      return {g.add(g.mul(a.a, b.b), g.mul(right, a.b)), g.mul(a.b, b.b)};
    }
    case ExprOp::Mul: {
      if (a.a == b.b) return {b.a, a.b};
      if (b.a == a.b) return {a.a, b.b};
      return {g.mul(a.a, b.a), g.mul(a.b, b.b)};
    }
    case ExprOp::Divide: {
      if (const auto divisor = b.a.constant(); divisor && divisor->num != 0 && b.b == one)
        return {g.scale(a.a, g.times(Rational::of(divisor->den), Rational::make(1, divisor->num).value_or(Rational{}))), a.b};
      return {g.mul(a.a, b.b), g.mul(a.b, b.a)};
    }
    case ExprOp::FloorDiv:
      return {floorOf(g.mul(a.a, b.b), g.mul(a.b, b.a)), one};
    case ExprOp::CeilDiv: {
      const Poly n = g.mul(a.a, b.b);
      const Poly d = g.mul(a.b, b.a);
      const Interval divisor = bounds(d);
      if (divisor.low && divisor.low->num > 0 && isIntegral(n) && isIntegral(d))
        return {floorOf(g.sub(g.add(n, d), one), d), one};
      return {g.scale(floorOf(g.scale(n, Rational::of(-1)), d), Rational::of(-1)), one};
    }
    case ExprOp::Mod: {  // x - b floor(x / b)
      const Poly quotient = floorOf(g.mul(a.a, b.b), g.mul(a.b, b.a));
      const Fraction product{g.mul(b.a, quotient), b.b};
      return combine(ExprOp::Sub, a, product, expr);
    }
    case ExprOp::Min:
      return choice(compareNumbers(ExprOp::LessEqual, a, b, false), a, b);
    case ExprOp::Max:
      return choice(compareNumbers(ExprOp::LessEqual, b, a, false), a, b);
    case ExprOp::Power: {
      const auto exponent = b.a.constant();
      if (!exponent || b.b != one || !exponent->isInt() || exponent->num < 0 || exponent->num > kMaxExponent)
        return opaque(expr, isIntegral(a.a) && a.b == one);
      Fraction made{one, one};
      for (std::int64_t i = 0; i < exponent->num; ++i) made = {g.mul(made.a, a.a), g.mul(made.b, a.b)};
      return made;
    }
    default:
      return opaque(expr, false);
  }
}

}  // namespace tbem::spec
