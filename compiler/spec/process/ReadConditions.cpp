// The logical structure of a condition: the first steps of Liu's derivation of functional scenarios.
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/spec/process/Predicates.h"
#include "compiler/spec/process/Reader.h"
#include "compiler/spec/size/Normal.h"

#include <algorithm>
#include <utility>

namespace tbem::spec {

using sema::ExprOp;
using sema::Value;
using sema::ValueKind;

namespace {
constexpr std::size_t kMaxInstances = 4096;
constexpr std::int64_t kMaxOpenRange = 256;
constexpr int kMaxNesting = 300;
}  // namespace

/// And or Or of the parts; parts of the same kind become its own.
Condition Reader::join(Condition::Kind kind, std::vector<Condition> parts, SrcRange range) {
  Condition made;
  made.kind = kind;
  made.range = range;
  const bool isAnd = kind == Condition::Kind::And;
  made.expr = pool.constant(isAnd ? 1 : 0);
  for (Condition& part : parts) {
    made.expr = pool.make(isAnd ? ExprOp::And : ExprOp::Or, made.expr, part.expr);
    if (part.kind == kind) {
      for (Condition& inner : part.parts) made.parts.push_back(std::move(inner));
    } else {
      made.parts.push_back(std::move(part));
    }
  }
  if (made.parts.size() == 1) {
    Condition only = std::move(made.parts.front());
    return only;
  }
  for (const Condition& part : made.parts) {
    const bool brackets = part.kind != Condition::Kind::Atom;
    made.text += (made.text.empty() ? "" : isAnd ? " and " : " or ") + (brackets ? "(" + part.text + ")" : part.text);
  }
  return made;
}

std::optional<Condition> Reader::condition(const ast::Expr& expr, bool negated) {
  if (nesting > kMaxNesting) {
    fail(diag::syntax_too_deep, expr.range);
    return std::nullopt;
  }
  ++nesting;
  std::optional<Condition> made;
  const auto* node = ast::dynCast<ast::Binary>(&expr);
  const bool isLogic = node != nullptr && (node->op == ast::BinaryOp::And || node->op == ast::BinaryOp::Or ||
                                           node->op == ast::BinaryOp::Implies || node->op == ast::BinaryOp::Equivalent);
  if (isLogic) {
    made = logic(*node, negated);
  } else if (const auto* unary = ast::dynCast<ast::Unary>(&expr); unary != nullptr && unary->op == ast::UnaryOp::Not) {
    made = condition(*unary->operand, !negated);
  } else if (const auto* choiceNode = ast::dynCast<ast::IfExpr>(&expr)) {
    made = choice(*choiceNode, negated);
  } else if (const auto* all = ast::dynCast<ast::Quantifier>(&expr)) {
    made = quantifier(*all, negated);
  } else {
    made = leaf(expr, negated);
  }
  --nesting;
  return made;
}

std::optional<Condition> Reader::logic(const ast::Binary& expr, bool negated) {
  using enum ast::BinaryOp;
  if (expr.op == And || expr.op == Or) {
    std::vector<const ast::Expr*> open{&expr}, operands;  // a chain, in a loop
    while (!open.empty()) {
      const ast::Expr* next = open.back();
      open.pop_back();
      const auto* both = ast::dynCast<ast::Binary>(next);
      if (both == nullptr || both->op != expr.op) {
        operands.push_back(next);
        continue;
      }
      open.push_back(both->right);
      open.push_back(both->left);
    }
    std::vector<Condition> parts;
    for (const ast::Expr* operand : operands) {
      std::optional<Condition> part = condition(*operand, negated);
      if (!part) return std::nullopt;
      parts.push_back(std::move(*part));
    }
    return join((expr.op == And) != negated ? Condition::Kind::And : Condition::Kind::Or, std::move(parts), expr.range);
  }
  // a => b: not a, or a and b. a <=> b: both or neither. So guards of the alternatives exclude each other.
  std::optional<Condition> yes = condition(*expr.left, false);
  std::optional<Condition> no = condition(*expr.left, true);
  std::optional<Condition> right = condition(*expr.right, negated);
  if (!yes || !no || !right) return std::nullopt;
  std::vector<Condition> first, second, either;
  first.push_back(std::move(*yes));
  first.push_back(std::move(*right));
  either.push_back(join(Condition::Kind::And, std::move(first), expr.range));
  if (expr.op == Equivalent) {
    std::optional<Condition> opposite = condition(*expr.right, !negated);
    if (!opposite) return std::nullopt;
    second.push_back(std::move(*no));
    second.push_back(std::move(*opposite));
    either.push_back(join(Condition::Kind::And, std::move(second), expr.range));
  } else if (!negated) {
    either.push_back(std::move(*no));
  }
  return join(Condition::Kind::Or, std::move(either), expr.range);
}

std::optional<Condition> Reader::choice(const ast::IfExpr& expr, bool negated) {
  std::optional<Condition> yes = condition(*expr.condition, false);
  std::optional<Condition> no = condition(*expr.condition, true);
  std::optional<Condition> then = condition(*expr.then, negated);
  std::optional<Condition> otherwise = expr.otherwise != nullptr ? condition(*expr.otherwise, negated) : std::nullopt;
  if (!yes || !no || !then || !otherwise) return std::nullopt;
  std::vector<Condition> first, second, either;
  first.push_back(std::move(*yes));
  first.push_back(std::move(*then));
  second.push_back(std::move(*no));
  second.push_back(std::move(*otherwise));
  either.push_back(join(Condition::Kind::And, std::move(first), expr.then->range));
  either.push_back(join(Condition::Kind::And, std::move(second), expr.otherwise->range));
  return join(Condition::Kind::Or, std::move(either), expr.range);
}

std::optional<Condition> Reader::quantifier(const ast::Quantifier& expr, bool negated) {
  std::vector<Condition> parts;
  const bool before = std::exchange(hasMembers, false);
  ++instanceDepth;
  const bool good = instances(expr, 0, negated, parts);
  --instanceDepth;
  const bool isOfMembers = std::exchange(hasMembers, before);
  if (!good) return std::nullopt;
  Condition made = join(expr.universal != negated ? Condition::Kind::And : Condition::Kind::Or, std::move(parts), expr.range);
  // Who is a member is no guard: as one it would make a scenario of every choice of members.
  if (!isOfMembers || !model.mentionsOutputs(made.expr)) return made;
  Condition whole;
  whole.expr = made.expr;
  whole.range = expr.range;
  whole.text = instanceDepth > 0 ? pool.str(made.expr) : sourceText(session.sources, expr.range);
  if (instanceDepth == 0 && negated) whole.text = "not (" + whole.text + ")";
  return whole;
}

bool Reader::instances(const ast::Quantifier& expr, std::size_t variable, bool negated, std::vector<Condition>& out) {
  if (variable == expr.variables.size()) {
    std::optional<Condition> one = condition(*expr.body, negated);
    if (!one) return false;
    out.push_back(std::move(*one));
    if (out.size() <= kMaxInstances) return true;
    fail(diag::quantifier_not_finite, expr.range, sourceText(session.sources, expr.range), "it has too many instances");
    return false;
  }
  const ast::Quantifier::Variable& bound = expr.variables[variable];
  const Value domain = evaluate(*bound.domain);
  if (domain.isPoison()) return false;
  if (domain.is(ValueKind::Range)) {
    const auto known = [&](std::size_t i) { return pool.constantValue(domain.items[i].expr).has_value(); };
    if (!known(0) || !known(1) || !known(2)) return openRange(expr, variable, domain, negated, out);
  }
  const auto items = members(domain, bound.domain->range);
  if (!items) return false;
  hasMembers = hasMembers || domain.is(ValueKind::Subset);
  return std::all_of(items->begin(), items->end(),
                     [&](const Member& item) { return member(expr, variable, item.here, item.value, negated, out); });
}

/// The instance of a value that stands in the set or range where `inside` holds.
bool Reader::member(const ast::Quantifier& expr, std::size_t variable, ExprId inside, Value value, bool negated,
                    std::vector<Condition>& out) {
  if (pool.constantValue(inside) == Rational::of(0)) return true;
  const ast::Quantifier::Variable& bound = expr.variables[variable];
  const bool always = pool.constantValue(inside) == Rational::of(1);
  std::vector<Condition> found;
  const std::size_t mark = frame->locals.size();
  frame->define(bound.name.text, std::move(value), bound.name.range);
  const bool good = instances(expr, variable + 1, negated, always ? out : found);
  frame->locals.resize(mark);
  if (!good || always) return good;
  const bool conjunction = expr.universal != negated;
  Condition there;
  there.range = bound.domain->range;
  there.expr = conjunction ? isNot(inside) : inside;
  there.text = pool.str(there.expr);
  std::vector<Condition> pair;
  pair.push_back(std::move(there));
  pair.push_back(join(conjunction ? Condition::Kind::And : Condition::Kind::Or, std::move(found), expr.body->range));
  out.push_back(join(conjunction ? Condition::Kind::Or : Condition::Kind::And, std::move(pair), expr.range));
  return true;
}

/// A range whose ends are unknowns: every number between the least and the largest that they can be, where it lies in the range.
bool Reader::openRange(const ast::Quantifier& expr, std::size_t variable, const Value& range, bool negated,
                       std::vector<Condition>& out) {
  const ast::Quantifier::Variable& bound = expr.variables[variable];
  const std::string text = sourceText(session.sources, bound.domain->range);
  if (pool.constantValue(range.items[2].expr) != Rational::of(1)) {
    fail(diag::quantifier_not_finite, bound.domain->range, text, "its step is not 1");
    return false;
  }
  Normalizer normal(pool, model.domains);
  const Interval low = normal.bounds(normal.number(range.items[0].expr).a);
  const Interval high = normal.bounds(normal.number(range.items[1].expr).a);
  if (!low.low || !high.high || normal.failed()) {
    fail(diag::quantifier_not_finite, bound.domain->range, text,
         "its ends have no bounds: give the unknowns in it values, as in `n: int in 1 ..= 64`");
    return false;
  }
  if (high.high->num - low.low->num > kMaxOpenRange) {
    fail(diag::quantifier_not_finite, bound.domain->range, text, "it may hold more than 256 numbers");
    return false;
  }
  for (std::int64_t i = low.low->num; i <= high.high->num; ++i) {
    const ExprId number = pool.constant(i);
    const ExprId above = pool.make(ExprOp::LessEqual, range.items[0].expr, number);
    const ExprId below = pool.make(range.inclusive ? ExprOp::LessEqual : ExprOp::Less, number, range.items[1].expr);
    if (!member(expr, variable, pool.make(ExprOp::And, above, below), Value::number(number), negated, out)) return false;
  }
  return true;
}

std::optional<Condition> Reader::leaf(const ast::Expr& expr, bool negated) {
  const Value value = evaluate(expr);
  if (value.isPoison()) return std::nullopt;
  if (!value.is(ValueKind::Bool)) {
    wrongKind(expr.range, "a condition", "a bool", value);
    return std::nullopt;
  }
  Condition made;
  made.range = expr.range;
  made.expr = negated ? isNot(value.expr) : value.expr;
  if (instanceDepth > 0)
    made.text = pool.str(made.expr);
  else if (negated)
    made.text = "not (" + sourceText(session.sources, expr.range) + ")";
  else
    made.text = sourceText(session.sources, expr.range);
  return lift(std::move(made));
}

/// `y = if c then a else b` as (c and y = a) or (not c and y = b).
Condition Reader::lift(Condition made) {
  if (!model.mentionsOutputs(made.expr)) return made;
  std::vector<ExprId> open{made.expr};
  ExprId found = sema::kNoExpr;
  while (!open.empty() && found == sema::kNoExpr) {
    const ExprId id = open.back();
    open.pop_back();
    const sema::ExprNode& node = pool[id];
    if (node.op == ExprOp::Select && arms.count(static_cast<std::uint32_t>(id)) != 0) found = id;
    for (const ExprId operand : {node.a, node.b, node.c}) {
      if (operand != sema::kNoExpr) open.push_back(operand);
    }
  }
  if (found == sema::kNoExpr || nesting > kMaxNesting) return made;
  ++nesting;
  const sema::ExprNode node = pool[found];
  std::vector<Condition> either;
  for (const bool yes : {true, false}) {
    Condition guard;
    guard.range = made.range;
    guard.expr = yes ? node.a : isNot(node.a);
    guard.text = pool.str(guard.expr);
    Condition rest;
    rest.range = made.range;
    rest.expr = replaced(pool, made.expr, found, yes ? node.b : node.c);
    rest.text = pool.str(rest.expr);
    std::vector<Condition> pair;
    pair.push_back(std::move(guard));
    pair.push_back(lift(std::move(rest)));
    either.push_back(join(Condition::Kind::And, std::move(pair), made.range));
  }
  --nesting;
  return join(Condition::Kind::Or, std::move(either), made.range);
}

}  // namespace tbem::spec
