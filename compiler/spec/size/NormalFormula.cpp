// Truth values as formulas in negation normal form.
#include "compiler/spec/size/Normal.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprNode;
using sema::ExprOp;

namespace {
constexpr int kMaxDepth = 600;

Formula collect(std::vector<Formula> parts, Formula::Kind kind) {
  const Formula::Kind absorbing = kind == Formula::Kind::And ? Formula::Kind::False : Formula::Kind::True;
  const Formula::Kind neutral = kind == Formula::Kind::And ? Formula::Kind::True : Formula::Kind::False;
  Formula made;
  made.kind = kind;
  for (Formula& part : parts) {
    if (part.kind == absorbing) return part;
    if (part.kind == neutral) continue;
    if (part.kind == kind)
      made.parts.insert(made.parts.end(), std::make_move_iterator(part.parts.begin()), std::make_move_iterator(part.parts.end()));
    else
      made.parts.push_back(std::move(part));
  }
  if (made.parts.empty()) {
    Formula empty;
    empty.kind = neutral;
    return empty;
  }
  if (made.parts.size() == 1) {
    Formula only = std::move(made.parts.front());
    return only;
  }
  return made;
}
}  // namespace

Formula allOf(std::vector<Formula> parts) { return collect(std::move(parts), Formula::Kind::And); }
Formula anyOf(std::vector<Formula> parts) { return collect(std::move(parts), Formula::Kind::Or); }
Formula truth(bool value) {
  Formula made;
  made.kind = value ? Formula::Kind::True : Formula::Kind::False;
  return made;
}

Formula Normalizer::negated(const Formula& formula) {
  using enum Formula::Kind;
  switch (formula.kind) {
    case True:
      return truth(false);
    case False:
      return truth(true);
    case Zero:
      return literal(NonZero, formula.poly);
    case NonZero:
      return literal(Zero, formula.poly);
    case NonNegative:
      return literal(Positive, algebra.scale(formula.poly, Rational::of(-1)));
    case Positive:
      return literal(NonNegative, algebra.scale(formula.poly, Rational::of(-1)));
    default:
      break;
  }
  std::vector<Formula> parts;
  for (const Formula& part : formula.parts) parts.push_back(negated(part));
  return formula.kind == And ? anyOf(std::move(parts)) : allOf(std::move(parts));
}

Formula Normalizer::formula(ExprId condition, bool negated) {
  prepare(condition);
  return makeFormula(condition, negated);
}

Formula Normalizer::makeFormula(ExprId expr, bool isNegated) {
  if (depth > kMaxDepth) {
    algebra.fail();
    return truth(true);
  }
  ++depth;
  const ExprNode node = pool[expr];
  Formula made;
  switch (node.op) {
    case ExprOp::And:
    case ExprOp::Or: {
      std::vector<Formula> parts;
      parts.push_back(makeFormula(node.a, isNegated));
      parts.push_back(makeFormula(node.b, isNegated));
      made = (node.op == ExprOp::And) != isNegated ? allOf(std::move(parts)) : anyOf(std::move(parts));
      break;
    }
    case ExprOp::Not:
      made = makeFormula(node.a, !isNegated);
      break;
    case ExprOp::Equal:
      if (isTruth(pool[node.a].op) && isTruth(pool[node.b].op)) {
        std::vector<Formula> both, neither;
        both.push_back(makeFormula(node.a, false));
        both.push_back(makeFormula(node.b, isNegated));
        neither.push_back(makeFormula(node.a, true));
        neither.push_back(makeFormula(node.b, !isNegated));
        std::vector<Formula> either;
        either.push_back(allOf(std::move(both)));
        either.push_back(allOf(std::move(neither)));
        made = anyOf(std::move(either));
        break;
      }
      [[fallthrough]];
    case ExprOp::Less:
    case ExprOp::LessEqual:
      made = compareNumbers(node.op, number(node.a), number(node.b), isNegated);
      break;
    case ExprOp::Select: {
      std::vector<Formula> first, second, either;
      first.push_back(makeFormula(node.a, false));
      first.push_back(makeFormula(node.b, isNegated));
      second.push_back(makeFormula(node.a, true));
      second.push_back(makeFormula(node.c, isNegated));
      either.push_back(allOf(std::move(first)));
      either.push_back(allOf(std::move(second)));
      made = anyOf(std::move(either));
      break;
    }
    default: {  // a number as a truth value: not 0
      const Fraction value = number(expr);
      made = literal(isNegated ? Formula::Kind::Zero : Formula::Kind::NonZero, value.a);
      break;
    }
  }
  --depth;
  return made;
}

/// a = b, a < b, a <= b with all denominators multiplied out.
Formula Normalizer::compareNumbers(ExprOp op, const Fraction& a, const Fraction& b, bool isNegated) {
  Algebra& g = algebra;
  const bool same = a.b == b.b;
  Poly gap = same ? g.sub(b.a, a.a) : g.sub(g.mul(b.a, a.b), g.mul(a.a, b.b));  // (b - a) times the denominators
  if (op == ExprOp::Equal) return literal(isNegated ? Formula::Kind::NonZero : Formula::Kind::Zero, std::move(gap));
  const Poly below = same ? a.b : g.mul(a.b, b.b);
  if (const auto divisor = below.constant()) {
    if (divisor->num < 0) gap = g.scale(gap, Rational::of(-1));
  } else if (const Interval sign = bounds(below); !sign.low || sign.low->num <= 0) {
    gap = g.mul(gap, below);
  }
  if (!isNegated) return literal(op == ExprOp::Less ? Formula::Kind::Positive : Formula::Kind::NonNegative, std::move(gap));
  gap = g.scale(gap, Rational::of(-1));
  return literal(op == ExprOp::Less ? Formula::Kind::NonNegative : Formula::Kind::Positive, std::move(gap));
}

/// With whole coefficients without a common factor; of integers `> 0` is `- 1 >= 0`, and the constant is rounded to what the
/// others can reach.
Formula Normalizer::literal(Formula::Kind kind, Poly poly) {
  using enum Formula::Kind;
  poly = algebra.scale(poly, Rational::of(algebra.commonDenominator(poly)));
  Formula made;
  made.kind = kind;
  if (algebra.failed()) return truth(true);
  if (isIntegral(poly) && !poly.constant()) {
    if (kind == Positive) {
      poly = algebra.sub(poly, constantPoly(1));
      made.kind = kind = NonNegative;
    }
    const std::int64_t common = contentWithoutConstant(poly);
    const Rational rest = poly.constantTerm();
    if (common > 1) {
      const auto quotient = div(rest, Rational::of(common));
      if (kind != NonNegative && quotient && !quotient->isInt()) return truth(kind == NonZero);
      const Rational low = floorDiv(rest, Rational::of(common)).value_or(Rational{});
      Poly others = algebra.sub(poly, constantPoly(rest));
      poly = algebra.add(algebra.scale(others, {1, common}), constantPoly(low));
    }
  }
  if ((kind == Zero || kind == NonZero) && !poly.isZero() && poly.terms.back().coefficient.num < 0)
    poly = algebra.scale(poly, Rational::of(-1));
  if (const auto known = decide(kind, poly)) return truth(*known);
  made.poly = std::move(poly);
  return made;
}

}  // namespace tbem::spec
