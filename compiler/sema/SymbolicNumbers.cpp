// What operators make of numbers: exact where fractions of 64 bits hold the result, else f64 or a failure.
#include "compiler/sema/Symbolic.h"

#include <cmath>
#include <utility>

namespace tbem::sema {

namespace {

Outcome checked(std::optional<Rational> value) { return value ? Outcome{*value} : Outcome::failed(EvalError::Overflow); }

/// floor(a / b) of f64, and what is left of a: both exact but for the quotient's own rounding.
std::pair<double, double> floored(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return {std::round((a - rest) / b), rest};
}

Outcome wholeOf(double value) {
  const std::optional<Rational> number = Rational::fromDouble(value);
  return checked(number && number->isInt() ? number : std::nullopt);
}

/// Of operands and results of which one is no fraction of 64 bits.
Outcome inDoubles(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::Add:
      return realOutcome(a + b);
    case ExprOp::Sub:
      return realOutcome(a - b);
    case ExprOp::Mul:
      return realOutcome(a * b);
    case ExprOp::Divide:
      return realOutcome(a / b);
    case ExprOp::FloorDiv:
      return wholeOf(floored(a, b).first);
    case ExprOp::CeilDiv:
      return wholeOf(-floored(-a, b).first);
    case ExprOp::Mod:
      return realOutcome(floored(a, b).second);
    default:
      return realOutcome(std::pow(a, b));
  }
}

/// The exact result, where 64 bits hold it.
std::optional<Rational> exactly(ExprOp op, const Rational& a, const Rational& b) {
  switch (op) {
    case ExprOp::Add:
      return add(a, b);
    case ExprOp::Sub:
      return sub(a, b);
    case ExprOp::Mul:
      return mul(a, b);
    case ExprOp::Divide:
      return div(a, b);
    case ExprOp::FloorDiv:
      return floorDiv(a, b);
    case ExprOp::CeilDiv:
      return ceilDiv(a, b);
    case ExprOp::Mod:
      return floorMod(a, b);
    default:
      return pow(a, b);
  }
}

Outcome arithmetic(ExprOp op, const Rational& a, const Rational& b, bool real) {
  if (const std::optional<Rational> exact = exactly(op, a, b)) return {*exact};
  // A quotient of whole numbers is a whole number that leaves 64 bits only by -1.
  const bool whole = a.isInt() && b.isInt() && (op == ExprOp::Divide ? b.num == -1 : !real);
  return whole ? Outcome::failed(EvalError::Overflow) : inDoubles(op, a.toDouble(), b.toDouble());
}

}  // namespace

Outcome realOutcome(double value) { return checked(Rational::fromDouble(value)); }

bool isTruth(ExprOp op) {
  switch (op) {
    case ExprOp::Equal:
    case ExprOp::Less:
    case ExprOp::LessEqual:
    case ExprOp::And:
    case ExprOp::Or:
    case ExprOp::Not:
      return true;
    default:
      return false;
  }
}

Outcome applied(ExprOp op, const Rational& a, const Rational& b, bool real) {
  switch (op) {
    case ExprOp::Divide:
    case ExprOp::FloorDiv:
    case ExprOp::CeilDiv:
    case ExprOp::Mod:
      if (b.num == 0) return Outcome::failed(EvalError::DivisionByZero);
      return arithmetic(op, a, b, real);
    case ExprOp::Power:
      if (!b.isInt()) return Outcome::failed(EvalError::NotAnInteger);
      if (b.num < 0) return Outcome::failed(EvalError::NegativeExponent);
      return arithmetic(op, a, b, real);
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
      return arithmetic(op, a, b, real);
    case ExprOp::Min:
      return {compare(a, b) <= 0 ? a : b};
    case ExprOp::Max:
      return {compare(a, b) >= 0 ? a : b};
    case ExprOp::Equal:
      return Outcome::truth(a == b);
    case ExprOp::Less:
      return Outcome::truth(compare(a, b) < 0);
    case ExprOp::LessEqual:
      return Outcome::truth(compare(a, b) <= 0);
    default:
      return Outcome::failed(EvalError::Unassigned);  // not an operator of two values
  }
}

}  // namespace tbem::sema
