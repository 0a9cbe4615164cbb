// Lists, tuples, sets, records, ranges, comprehensions, quantifiers.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>

namespace tbem::sema {

namespace {
constexpr std::int64_t kMaxElements = 100'000;

/// What a copy takes, in steps: an element, whatever it holds besides, and each 16 characters.
std::uint64_t sizeOf(const Value& value) {
  std::uint64_t size = 1;
  for (const std::string& word : value.words) size += word.size() / 16;
  for (const Value& item : value.items) size += sizeOf(item);
  return size;
}
}  // namespace

Value Evaluator::charged(Value made) {
  const std::uint64_t size = sizeOf(made);
  // Never beyond the limit: the next step tells.
  if (steps < kMaxSteps) steps += std::min(size, kMaxSteps - steps);
  return made;
}

namespace {

/// The name of an element, where evaluating it may make an instance that bears it: "stage[2]".
std::string elementName(const std::string& list, const ast::Expr& element, std::size_t position) {
  const bool mayMake = element.kind == ast::NodeKind::Call || element.kind == ast::NodeKind::List ||
                       element.kind == ast::NodeKind::Comprehension || element.kind == ast::NodeKind::IfExpr;
  return mayMake && !list.empty() ? list + "[" + std::to_string(position) + "]" : std::string();
}

}  // namespace

Value Evaluator::evaluateItems(const ast::Expr& expr, std::span<const ast::Expr* const> items, ValueKind kind) {
  const std::string name = givenName(expr);
  std::vector<Value> made;
  made.reserve(items.size());
  for (const ast::Expr* item : items) {
    if (const auto* splice = ast::dynCast<ast::Splice>(item)) {
      const Value inner = evaluate(*splice->value);
      const std::optional<SharedVector<Value>> spread = elements(inner, splice->range);
      if (!spread) return {};
      made.insert(made.end(), spread->begin(), spread->end());
      continue;
    }
    if (std::string own = elementName(name, *item, made.size()); !own.empty()) naming(*item, std::move(own));
    Value value = evaluate(*item);
    if (value.isPoison()) return {};
    // `{1 .. 4}` and `[0 .. n]` hold the elements of the range.
    if (value.is(ValueKind::Range) && kind != ValueKind::Tuple) {
      const std::optional<SharedVector<Value>> spread = elements(value, item->range);
      if (!spread) return {};
      made.insert(made.end(), spread->begin(), spread->end());
      continue;
    }
    made.push_back(std::move(value));
  }
  Value result = Value::ofKind(kind);
  result.items = std::move(made);
  return charged(std::move(result));
}

Value Evaluator::evaluateRecord(const ast::Record& expr) {
  Value result = Value::ofKind(ValueKind::Record);
  for (const ast::Record::Field& field : expr.fields) {
    Value value = evaluate(*field.value);
    if (value.isPoison()) return {};
    result.words.push_back(field.name.text);
    result.items.push_back(std::move(value));
  }
  return charged(std::move(result));
}

Value Evaluator::evaluateRange(const ast::Range& expr) {
  Value result = Value::ofKind(ValueKind::Range);
  result.inclusive = expr.inclusive;
  for (const ast::Expr* part : {expr.low, expr.high, expr.step}) {
    if (part == nullptr) {
      result.items.push_back(integerValue(1));
      continue;
    }
    Value value = evaluate(*part);
    if (value.isPoison()) return {};
    if (!value.is(ValueKind::Number)) return wrongKind(part->range, "a range", "numbers", value);
    result.items.push_back(std::move(value));
  }
  return result;
}

std::optional<SharedVector<Value>> Evaluator::elements(const Value& value, SrcRange range) {
  switch (value.kind) {
    case ValueKind::Poison:
      return std::nullopt;
    case ValueKind::List:
    case ValueKind::Tuple:
    case ValueKind::Set:
      return value.items;
    case ValueKind::Range:
      break;
    default:
      wrongKind(range, "this", "a list or a range", value);
      return std::nullopt;
  }
  const std::optional<Rational> low = force(value.items[0], range);
  const std::optional<Rational> high = force(value.items[1], range);
  const std::optional<Rational> step = force(value.items[2], range);
  if (!low || !high || !step) return std::nullopt;
  if (step->num == 0) {
    fail(diag::step_not_positive, range, low->str(), high->str(), step->str());
    return std::nullopt;
  }
  std::vector<Value> result;
  // Each element counts as a step, so that loops over long ranges end as soon as they are too many.
  std::optional<Rational> at = low;
  while (at) {
    const int order = compare(*at, *high) * (step->num > 0 ? 1 : -1);
    if (order > 0 || (order == 0 && !value.inclusive)) break;
    if (static_cast<std::int64_t>(result.size()) >= kMaxElements) {
      fail(diag::too_many_steps, range, "this range", kMaxElements);
      return std::nullopt;
    }
    result.push_back(Value::number(pool.constant(*at)));
    if (steps < kMaxSteps) ++steps;
    at = add(*at, *step);
  }
  return result;
}

bool Evaluator::comprehend(const ast::Comprehension& expr, std::size_t generator, const std::string& name,
                           std::vector<Value>& out) {
  if (generator == expr.generators.size()) {
    if (std::string own = elementName(name, *expr.element, out.size()); !own.empty()) naming(*expr.element, std::move(own));
    Value value = evaluate(*expr.element);
    if (value.isPoison()) return false;
    out.push_back(charged(std::move(value)));  // one by one: a list of long lists ends before it is built
    return true;
  }
  const ast::Comprehension::Generator& source = expr.generators[generator];
  const std::optional<SharedVector<Value>> items = elements(evaluate(*source.domain), source.domain->range);
  if (!items) return false;
  const std::size_t mark = frame->locals.size();
  for (const Value& item : *items) {
    frame->define(source.variable.text, item, source.variable.range);
    const bool good = comprehend(expr, generator + 1, name, out);
    frame->locals.resize(mark);
    if (!good) return false;
  }
  return true;
}

Value Evaluator::evaluateComprehension(const ast::Comprehension& expr) {
  const std::string name = givenName(expr);
  Value result = Value::ofKind(ValueKind::List);
  return comprehend(expr, 0, name, result.items.own()) ? result : Value{};
}

bool Evaluator::quantify(const ast::Quantifier& expr, std::size_t variable, std::optional<ExprId>& out) {
  if (variable == expr.variables.size()) {
    const Value value = evaluate(*expr.body);
    if (value.isPoison()) return false;
    if (!value.is(ValueKind::Bool)) {
      wrongKind(expr.body->range, "a quantifier", "a bool", value);
      return false;
    }
    out = out ? pool.make(expr.universal ? ExprOp::And : ExprOp::Or, *out, value.expr) : value.expr;
    return true;
  }
  const ast::Quantifier::Variable& bound = expr.variables[variable];
  const std::optional<std::vector<Member>> items = members(evaluate(*bound.domain), bound.domain->range);
  if (!items) return false;
  const std::size_t mark = frame->locals.size();
  for (const Member& item : *items) {
    frame->define(bound.name.text, item.value, bound.name.range);
    std::optional<ExprId> inside;
    const bool good = quantify(expr, variable + 1, inside);
    frame->locals.resize(mark);
    if (!good) return false;
    if (!inside) continue;
    const ExprId one = expr.universal ? pool.make(ExprOp::Or, pool.make(ExprOp::Not, item.here), *inside)
                                      : pool.make(ExprOp::And, item.here, *inside);
    out = out ? pool.make(expr.universal ? ExprOp::And : ExprOp::Or, *out, one) : one;
  }
  return true;
}

Value Evaluator::evaluateQuantifier(const ast::Quantifier& expr) {
  std::optional<ExprId> all;
  if (!quantify(expr, 0, all)) return {};
  return all ? Value::boolean(*all) : truth(expr.universal);
}

}  // namespace tbem::sema
