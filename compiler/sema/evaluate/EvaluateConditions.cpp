// Truth values and equality.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

namespace tbem::sema {

Value Evaluator::evaluateLogic(const ast::Binary& expr) {
  const Value left = evaluate(*expr.left);
  if (left.isPoison()) return {};
  if (left.isRuntime()) {
    const Value right = evaluate(*expr.right);
    return right.isPoison() ? Value{} : runtimeBinary(expr, left, right);
  }
  if (!left.is(ValueKind::Bool)) return wrongKind(expr.left->range, "logic", "a bool", left);
  const auto known = pool.constantValue(left.expr);
  const bool decidedBy = expr.op == ast::BinaryOp::Or;  // the left value that decides alone
  if (known && expr.op != ast::BinaryOp::Equivalent && (known->num != 0) == decidedBy) {
    return truth(expr.op != ast::BinaryOp::And);
  }
  // What stands to the right of an undecided condition may fail where the left side already decides: left to the row.
  const std::optional<Rational> here = peek(left.expr);
  const bool decided = expr.op != ast::BinaryOp::Equivalent && here && (here->num != 0) == decidedBy;
  quiet += decided ? 1 : 0;
  const Value right = evaluate(*expr.right);
  quiet -= decided ? 1 : 0;
  if (right.isPoison()) return {};
  if (right.isRuntime()) return runtimeBinary(expr, left, right);
  if (!right.is(ValueKind::Bool)) return wrongKind(expr.right->range, "logic", "a bool", right);
  switch (expr.op) {
    case ast::BinaryOp::And:
      return Value::boolean(pool.make(ExprOp::And, left.expr, right.expr));
    case ast::BinaryOp::Or:
      return Value::boolean(pool.make(ExprOp::Or, left.expr, right.expr));
    case ast::BinaryOp::Implies:
      return Value::boolean(pool.make(ExprOp::Or, pool.make(ExprOp::Not, left.expr), right.expr));
    default:
      return Value::boolean(pool.make(ExprOp::Equal, left.expr, right.expr));
  }
}

ExprId Evaluator::equal(const Value& a, const Value& b) {
  const auto fixed = [this](bool same) { return pool.constant(same ? 1 : 0); };
  if (a.is(ValueKind::Word) || b.is(ValueKind::Word)) return equalWords(a, b);
  const auto isSet = [](const Value& v) { return v.is(ValueKind::Set) || v.is(ValueKind::Subset); };
  if (isSet(a) && isSet(b)) return equalSets(a, b);
  const auto isSequence = [](const Value& v) { return v.is(ValueKind::List) || v.is(ValueKind::Sequence); };
  if (a.kind != b.kind && isSequence(a) && isSequence(b)) return equalSequences(a, b);
  if (a.is(ValueKind::Sequence) && b.is(ValueKind::Sequence)) return equalSequences(a, b);
  const auto isCallable = [](const Value& v) { return v.is(ValueKind::Declaration) || v.is(ValueKind::Partial); };
  if (isCallable(a) && isCallable(b)) {
    if (a.decl != b.decl) return fixed(false);
    // A name alone stands for any of its parameters: `model = resnet`.
    if (a.kind != b.kind || a.items.size() != b.items.size()) return fixed(a.items.empty() || b.items.empty());
  } else if (a.kind != b.kind) {
    return kNoExpr;
  }
  switch (a.kind) {
    case ValueKind::Number:
    case ValueKind::Bool:
      return pool.make(ExprOp::Equal, a.expr, b.expr);
    case ValueKind::String:
      return fixed(a.text() == b.text());
    case ValueKind::DType:
    case ValueKind::Instance:
      return fixed(a.id == b.id);
    case ValueKind::List:
    case ValueKind::Tuple:
    case ValueKind::Partial: {
      if (a.items.size() != b.items.size()) return fixed(false);
      ExprId all = fixed(true);
      for (std::size_t i = 0; i < a.items.size(); ++i) {
        const ExprId one = a.is(ValueKind::Partial) && a.words[i] != b.words[i] ? fixed(false) : equal(a.items[i], b.items[i]);
        if (one == kNoExpr) return kNoExpr;
        all = pool.make(ExprOp::And, all, one);
      }
      return all;
    }
    case ValueKind::Declaration:
      return fixed(true);
    default:
      return kNoExpr;
  }
}

const std::vector<const ast::Expr*>& Evaluator::conjunctsOf(const ast::Expr& condition) {
  const auto [place, isNew] = knownConjuncts.try_emplace(&condition);
  std::vector<const ast::Expr*>& parts = place->second;
  if (!isNew) return parts;
  std::vector<const ast::Expr*> open{&condition};
  while (!open.empty()) {
    const ast::Expr* next = open.back();
    open.pop_back();
    if (const auto* both = ast::dynCast<ast::Binary>(next); both != nullptr && both->op == ast::BinaryOp::And) {
      open.push_back(both->right);
      open.push_back(both->left);
    } else {
      parts.push_back(next);
    }
  }
  return parts;
}

}  // namespace tbem::sema
