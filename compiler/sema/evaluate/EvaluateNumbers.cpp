// Numbers, units, comparisons.
#include "compiler/sema/evaluate/Evaluator.h"

#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/support/Units.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tbem::sema {

namespace {
UnitPowers powersOf(tbem::Dimension dimension) {
  switch (dimension) {
    case tbem::Dimension::Bytes:
      return {1, 0, 0, 0};
    case tbem::Dimension::Seconds:
      return {0, 1, 0, 0};
    case tbem::Dimension::Joules:
      return {0, 0, 1, 0};
    case tbem::Dimension::Watts:
      return {0, -1, 1, 0};
    case tbem::Dimension::Flops:
      return {0, 0, 0, 1};
    case tbem::Dimension::Hertz:
      return {0, -1, 0, 0};
  }
  return {};
}

std::string describeUnit(const UnitPowers& unit) {
  std::string above, below;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (unit[i] == 0) continue;
    std::string& side = unit[i] > 0 ? above : below;
    side += (side.empty() ? "" : " * ") + std::string(kUnitNames[i]);
    const int power = unit[i] > 0 ? unit[i] : -unit[i];
    if (power > 1) side += " ** " + std::to_string(power);
  }
  if (above.empty() && below.empty()) return "a plain number";
  return (above.empty() ? "1" : above) + (below.empty() ? "" : " / " + below);
}

const char* verb(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add:
      return "add";
    case ast::BinaryOp::Sub:
      return "subtract";
    default:
      return "compare";
  }
}

std::optional<ExprOp> arithmetic(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add:
      return ExprOp::Add;
    case ast::BinaryOp::Sub:
      return ExprOp::Sub;
    case ast::BinaryOp::Mul:
      return ExprOp::Mul;
    case ast::BinaryOp::Divide:
      return ExprOp::Divide;
    case ast::BinaryOp::FloorDiv:
      return ExprOp::FloorDiv;
    case ast::BinaryOp::CeilDiv:
      return ExprOp::CeilDiv;
    case ast::BinaryOp::Mod:
    case ast::BinaryOp::Rem:
      return ExprOp::Mod;
    case ast::BinaryOp::Power:
      return ExprOp::Power;
    default:
      return std::nullopt;
  }
}

/// Every operator asks: compared as one number.
bool isSame(const UnitPowers& a, const UnitPowers& b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

bool isLogic(ast::BinaryOp op) {
  return op == ast::BinaryOp::And || op == ast::BinaryOp::Or || op == ast::BinaryOp::Implies || op == ast::BinaryOp::Equivalent;
}
}  // namespace

Value Evaluator::evaluateNumber(const ast::Number& expr) {
  const char first = expr.text.front();
  if (expr.text.size() == 1 && first >= '0' && first <= '9') return integerValue(first - '0');  // most are
  if (const std::optional<Rational> value = Rational::parse(expr.text)) return Value::number(pool.constant(*value));
  const bool whole = expr.text.find_first_of(".eE") == std::string::npos;
  return fail(diag::number_overflow, expr.range, expr.text, whole ? kWholeRange : kRealRange);
}

Value Evaluator::evaluateUnit(const ast::Unit& expr) {
  const UnitWord* unit = findUnit(expr.unit.text);
  if (unit == nullptr) return fail(diag::unknown_name, expr.unit.range, expr.unit.text);
  const std::optional<Rational> number = Rational::parse(expr.number);
  const Outcome value = number ? applied(ExprOp::Mul, *number, unit->factor) : Outcome{{}, EvalError::Overflow};
  if (value.error != EvalError::None) {
    const bool whole = !number || number->isInt();
    return fail(diag::number_overflow, expr.range, expr.number + " " + expr.unit.text, whole ? kWholeRange : kRealRange);
  }
  Value result = Value::number(pool.constant(value.value));
  result.unit = powersOf(unit->dimension);
  return result;
}

/// What the value does not fit in, by the operator in it whose operands still have values.
const char* Evaluator::rangeLeftBy(ExprId made) {
  const auto failing = [this](ExprId operand) { return operand != kNoExpr && peekError(operand) == EvalError::Overflow; };
  for (bool deeper = true; deeper;) {
    const ExprNode node = pool[made];
    deeper = false;
    for (const ExprId operand : {node.a, node.b, node.c}) {
      if (deeper || !failing(operand)) continue;
      made = operand;
      deeper = true;
    }
  }
  const ExprNode node = pool[made];
  const std::optional<Rational> a = peek(node.a), b = peek(node.b);
  const bool whole = a && b && a->isInt() && b->isInt() && (pool.isWhole(made) || node.op == ExprOp::Divide);
  return whole || node.op == ExprOp::FloorDiv || node.op == ExprOp::CeilDiv ? kWholeRange : kRealRange;
}

/// Says why an expression just made has no value in this row; nothing to say where its operands had none either.
Value Evaluator::reportArithmetic(ExprId made, SrcRange range, SrcRange divisor, ExprId right) {
  switch (peekError(made)) {
    case EvalError::DivisionByZero:
      return failAt(right, diag::division_by_zero, divisor, pool.str(right));
    case EvalError::Overflow:
      return failAt(made, diag::number_overflow, range, pool.str(made), rangeLeftBy(made));
    case EvalError::NegativeExponent: {
      const std::optional<Rational> exponent = peek(right);
      return failAt(right, diag::negative_exponent, range, pool.str(made), exponent ? exponent->str() : "");
    }
    case EvalError::NotAnInteger: {
      const std::optional<Rational> exponent = peek(right);
      return failAt(right, diag::not_whole, divisor, "an exponent", exponent ? exponent->str() : "a fraction");
    }
    case EvalError::Unassigned:
    case EvalError::None:
      return {};
  }
  return {};
}

namespace {
/// base ** exponent, exact; nothing where it leaves 64 bits. A negative exponent wants a base other than 0.
std::optional<Rational> wholePower(const Rational& base, std::int64_t exponent) {
  if (exponent >= 0) return pow(base, Rational::of(exponent));
  const std::optional<Rational> reciprocal = div(Rational::of(1), base);
  if (!reciprocal) return std::nullopt;
  if (exponent != std::numeric_limits<std::int64_t>::min()) return pow(*reciprocal, Rational::of(-exponent));
  const std::optional<Rational> root = pow(*reciprocal, Rational::of(std::int64_t{1} << 62));
  return root ? mul(*root, *root) : std::nullopt;
}
}  // namespace

Value Evaluator::makeNumber(ExprOp op, const Value& a, const Value& b, SrcRange range, SrcRange divisor) {
  if (a.isPoison() || b.isPoison()) return {};  // told where it was made
  Value result = Value::number(pool.make(op, a.expr, b.expr), a.isReal || b.isReal);
  result.unit = a.unit;
  const int sign = op == ExprOp::Mul ? 1 : op == ExprOp::Divide ? -1 : 0;
  for (std::size_t i = 0; sign != 0 && i < result.unit.size(); ++i)
    result.unit[i] = static_cast<std::int8_t>(result.unit[i] + sign * b.unit[i]);
  if (quiet > 0 || pool[result.expr].op == ExprOp::Constant) return result;
  const EvalError error = peekError(result.expr);
  if (error == EvalError::None || error == EvalError::Unassigned) return result;
  if (peekError(a.expr) != EvalError::None || peekError(b.expr) != EvalError::None) return {};
  // Whole numbers that are reals, such as what `exp` made, are rounded where 64 bits end.
  const std::optional<Rational> left = pool.constantValue(a.expr);
  const std::optional<Rational> right = pool.constantValue(b.expr);
  if (error == EvalError::Overflow && left && right && result.isReal) {
    const Outcome real = applied(op, *left, *right, true);
    if (real.error != EvalError::None) return fail(diag::number_overflow, range, pool.str(result.expr), kRealRange);
    result.expr = pool.constant(real.value);
    return result;
  }
  return reportArithmetic(result.expr, range, divisor, b.expr);
}

/// Exact for whole exponents, negative ones too, where 64 bits hold the result; else the nearest f64, as `sqrt` is, which of a
/// fraction as exponent fixes the symbols it came from.
Value Evaluator::makePower(const Value& base, const Value& exponent, SrcRange range, SrcRange exponentRange) {
  const std::optional<Rational> known = pool.constantValue(exponent.expr);
  const std::optional<Rational> constantBase = pool.constantValue(base.expr);
  if (known && known->isInt() && known->num < 0 && constantBase) {
    if (constantBase->num == 0) return fail(diag::division_by_zero, range, pool.str(base.expr));
    if (const std::optional<Rational> power = wholePower(*constantBase, known->num))
      return Value::number(pool.constant(*power), base.isReal || exponent.isReal);
    return rounded(std::pow(constantBase->toDouble(), known->toDouble()), range,
                   "(" + constantBase->str() + ") ** " + known->str());
  }
  if (known && known->isInt() && known->num < 0) {
    const Value positive = makeNumber(ExprOp::Sub, integerValue(0), exponent, exponentRange, exponentRange);
    const Value power = makeNumber(ExprOp::Power, base, positive, range, exponentRange);
    return power.isPoison() ? Value{} : makeNumber(ExprOp::Divide, integerValue(1), power, range, range);
  }
  if (!known || known->isInt()) return makeNumber(ExprOp::Power, base, exponent, range, exponentRange);
  const std::optional<Rational> number = force(base, range);
  if (!number) return {};
  if (number->num < 0) return fail(diag::not_whole, exponentRange, "an exponent of a negative number", known->str());
  return rounded(std::pow(number->toDouble(), known->toDouble()), range, "(" + number->str() + ") ** " + known->str());
}

Value Evaluator::rounded(double value, SrcRange range, const std::string& text) {
  const Outcome result = realOutcome(value);
  if (result.error != EvalError::None) return fail(diag::number_overflow, range, text, kRealRange);
  return Value::number(pool.constant(result.value), true);
}

/// a - b * trunc(a / b): `rem` has the sign of its left side, where `mod` has that of its right one.
Value Evaluator::makeRemainder(const Value& a, const Value& b, SrcRange range, SrcRange divisor) {
  if (a.isPoison() || b.isPoison()) return {};
  // `mod` by whichever of b and -b has the sign of a. The least number of 64 bits has no opposite: it is larger than every a
  // beside it, which is then the rest itself.
  const ExprId zero = pool.constant(0);
  const ExprId least = pool.constant(std::numeric_limits<std::int64_t>::min());
  const ExprId sameSign = pool.make(ExprOp::Equal, pool.make(ExprOp::Less, a.expr, zero), pool.make(ExprOp::Less, b.expr, zero));
  const ExprId opposite = pool.make(ExprOp::Mod, a.expr, pool.make(ExprOp::Sub, zero, b.expr));
  Value result = Value::number(pool.make(ExprOp::Select, sameSign, pool.make(ExprOp::Mod, a.expr, b.expr),
                                         pool.make(ExprOp::Select, pool.make(ExprOp::Equal, b.expr, least), a.expr, opposite)),
                               a.isReal || b.isReal);
  result.unit = a.unit;
  if (quiet > 0) return result;
  const EvalError error = peekError(result.expr);
  if (error == EvalError::None || error == EvalError::Unassigned) return result;
  if (peekError(a.expr) != EvalError::None || peekError(b.expr) != EvalError::None) return {};
  return reportArithmetic(result.expr, range, divisor, b.expr);
}

Value Evaluator::evaluateUnary(const ast::Unary& expr) {
  const Value operand = evaluate(*expr.operand);
  if (operand.isPoison()) return {};
  if (operand.isRuntime()) return runtimeUnary(expr, operand);
  if (expr.op == ast::UnaryOp::Not) {
    if (!operand.is(ValueKind::Bool)) return wrongKind(expr.operand->range, "`not`", "a bool", operand);
    return Value::boolean(pool.make(ExprOp::Not, operand.expr));
  }
  if (!operand.is(ValueKind::Number)) return wrongKind(expr.operand->range, "`-`", "a number", operand);
  if (operand.isReal && frame->elementwise) return runtimeUnary(expr, operand);
  Value zero = integerValue(0);
  zero.unit = operand.unit;
  return makeNumber(ExprOp::Sub, zero, operand, expr.range, expr.range);
}

Value Evaluator::evaluateBinary(const ast::Binary& expr) {
  if (isLogic(expr.op)) return evaluateLogic(expr);
  if (expr.left->kind != ast::NodeKind::Binary) {
    Value left = evaluate(*expr.left);
    return combined(expr, std::move(left), evaluate(*expr.right));
  }
  // A chain `a + b + c + ...` leans left: it is walked in a loop, so that no length overflows the stack.
  const std::size_t mark = chains.size();
  chains.push_back(&expr);
  while (const auto* inner = ast::dynCast<ast::Binary>(chains.back()->left)) {
    if (isLogic(inner->op)) break;
    chains.push_back(inner);
  }
  Value left = evaluate(*chains.back()->left);
  while (chains.size() > mark) {
    const ast::Binary& node = *chains.back();
    chains.pop_back();
    left = combined(node, std::move(left), evaluate(*node.right));
  }
  return left;
}

/// The two sides' values by the operator between them, which is none of logic.
Value Evaluator::combined(const ast::Binary& node, Value left, const Value& right) {
  if (left.isPoison() || right.isPoison()) return {};
  const std::optional<ExprOp> op = arithmetic(node.op);
  const bool scalarArithmetic =
      op && frame->elementwise && (left.isReal || right.isReal) && left.is(ValueKind::Number) && right.is(ValueKind::Number);
  if (left.isRuntime() || right.isRuntime() || scalarArithmetic) return runtimeBinary(node, left, right);
  if (!op) return evaluateComparison(node, left, right);
  if (left.is(ValueKind::String) && right.is(ValueKind::String) && node.op == ast::BinaryOp::Add)
    return charged(Value::string(left.text() + right.text()));
  if (left.is(ValueKind::List) && right.is(ValueKind::List) && node.op == ast::BinaryOp::Add) {
    std::vector<Value>& both = left.items.own();
    both.insert(both.end(), right.items.begin(), right.items.end());
    return charged(std::move(left));
  }
  if (!left.is(ValueKind::Number)) return wrongKind(node.left->range, "arithmetic", "a number", left);
  if (!right.is(ValueKind::Number)) return wrongKind(node.right->range, "arithmetic", "a number", right);
  if (!isSame(left.unit, right.unit) && op != ExprOp::Mul && op != ExprOp::Divide)
    return fail(diag::units_differ, node.range, verb(node.op), describeUnit(left.unit), describeUnit(right.unit));
  if (node.op == ast::BinaryOp::Rem) return makeRemainder(left, right, node.range, node.right->range);
  if (node.op == ast::BinaryOp::Power) return makePower(left, right, node.range, node.right->range);
  return makeNumber(*op, left, right, node.range, node.right->range);
}

Value Evaluator::evaluateComparison(const ast::Binary& expr, const Value& left, const Value& right) {
  if (!isSame(left.unit, right.unit)) {
    return fail(diag::units_differ, expr.range, verb(expr.op), describeUnit(left.unit), describeUnit(right.unit));
  }
  if (expr.op == ast::BinaryOp::Equal || expr.op == ast::BinaryOp::NotEqual) {
    const ExprId same = equal(left, right);
    if (same == kNoExpr)
      return fail(diag::wrong_kind, expr.range, "a comparison", kindName(left) + " on both sides", kindName(right));
    return Value::boolean(expr.op == ast::BinaryOp::Equal ? same : pool.make(ExprOp::Not, same));
  }
  if (!left.is(ValueKind::Number)) return wrongKind(expr.left->range, "a comparison", "a number", left);
  if (!right.is(ValueKind::Number)) return wrongKind(expr.right->range, "a comparison", "a number", right);
  switch (expr.op) {
    case ast::BinaryOp::Less:
      return Value::boolean(pool.make(ExprOp::Less, left.expr, right.expr));
    case ast::BinaryOp::LessEqual:
      return Value::boolean(pool.make(ExprOp::LessEqual, left.expr, right.expr));
    case ast::BinaryOp::Greater:
      return Value::boolean(pool.make(ExprOp::Less, right.expr, left.expr));
    default:
      return Value::boolean(pool.make(ExprOp::LessEqual, right.expr, left.expr));
  }
}

}  // namespace tbem::sema
