#include "compiler/spec/process/Predicates.h"

#include <algorithm>
#include <map>

namespace tbem::spec {

using sema::ExprNode;
using sema::ExprOp;

namespace {

bool isComparison(ExprOp op) { return op == ExprOp::Equal || op == ExprOp::Less || op == ExprOp::LessEqual; }
bool isLogic(ExprOp op) { return op == ExprOp::And || op == ExprOp::Or || op == ExprOp::Not || isComparison(op); }

class Splitter {
public:
  Splitter(sema::ExprPool& pool, std::size_t limit) : pool(pool), limit(limit) {}
  using Form = std::optional<std::vector<Conjunction>>;

  Form form(ExprId expr, bool negated) {
    if (depth == kMaxDepth) return std::nullopt;
    ++depth;
    Form made = formOf(expr, negated);
    --depth;
    return made;
  }

private:
  static constexpr int kMaxDepth = 400;

  ExprId isNot(ExprId expr) { return pool.make(ExprOp::Not, expr); }

  Form formOf(ExprId expr, bool negated) {
    if (const auto known = pool.constantValue(expr)) {
      if ((known->num != 0) == negated) return std::vector<Conjunction>{};
      return std::vector<Conjunction>{{}};
    }
    const ExprNode node = pool[expr];
    switch (node.op) {
      case ExprOp::Not:
        return form(node.a, !negated);
      case ExprOp::And:
      case ExprOp::Or:
        return (node.op == ExprOp::And) == negated ? either(form(node.a, negated), form(node.b, negated))
                                                   : both(form(node.a, negated), form(node.b, negated));
      case ExprOp::Select:  // a truth value
        return arms(node.a, form(node.b, negated), form(node.c, negated));
      case ExprOp::Equal:
        if (isLogic(pool[node.a].op) || isLogic(pool[node.b].op))
          return either(both(form(node.a, false), form(node.b, negated)), both(form(node.a, true), form(node.b, !negated)));
        return comparison(node, negated);
      case ExprOp::Less:
      case ExprOp::LessEqual:
        return comparison(node, negated);
      default:
        break;
    }
    Predicate atom;
    atom.expr = negated ? isNot(expr) : expr;
    atom.left = expr;
    atom.right = pool.constant(negated ? 0 : 1);
    atom.isTruth = true;
    return std::vector<Conjunction>{{atom}};
  }

  Form comparison(const ExprNode& node, bool negated) {
    if (node.op == ExprOp::Equal) return atom(negated ? Relation::Unequal : Relation::Equal, node.a, node.b);
    const bool strict = (node.op == ExprOp::Less) != negated;  // not (a < b) is b <= a
    const Relation relation = strict ? Relation::Less : Relation::LessEqual;
    return negated ? atom(relation, node.b, node.a) : atom(relation, node.a, node.b);
  }

  ExprId compare(Relation relation, ExprId left, ExprId right) {
    switch (relation) {
      case Relation::Less:
        return pool.make(ExprOp::Less, left, right);
      case Relation::LessEqual:
        return pool.make(ExprOp::LessEqual, left, right);
      case Relation::Equal:
        return pool.make(ExprOp::Equal, left, right);
      case Relation::Unequal:
        break;
    }
    return isNot(pool.make(ExprOp::Equal, left, right));
  }

  Form atom(Relation relation, ExprId left, ExprId right) {
    const ExprNode l = pool[left], r = pool[right];
    const bool ordered = relation == Relation::Less || relation == Relation::LessEqual;
    if (ordered && (l.op == ExprOp::Min || l.op == ExprOp::Max)) {
      const ExprId first = compare(relation, l.a, right), second = compare(relation, l.b, right);
      return l.op == ExprOp::Max ? both(form(first, false), form(second, false))
                                 : either(form(first, false), form(second, false));
    }
    if (ordered && (r.op == ExprOp::Min || r.op == ExprOp::Max)) {
      const ExprId first = compare(relation, left, r.a), second = compare(relation, left, r.b);
      return r.op == ExprOp::Min ? both(form(first, false), form(second, false))
                                 : either(form(first, false), form(second, false));
    }
    const ExprId whole = compare(relation, left, right);
    if (const ExprId choice = choiceIn(whole); choice != sema::kNoExpr) {
      const ExprNode node = pool[choice];
      const ExprId condition = node.op == ExprOp::Select ? node.a : pool.make(ExprOp::LessEqual, node.a, node.b);
      const ExprId yes = node.op == ExprOp::Select ? node.b : node.op == ExprOp::Min ? node.a : node.b;
      const ExprId no = node.op == ExprOp::Select ? node.c : node.op == ExprOp::Min ? node.b : node.a;
      return arms(condition, form(replaced(pool, whole, choice, yes), false), form(replaced(pool, whole, choice, no), false));
    }
    if (pool.constantValue(whole)) return form(whole, false);
    Predicate made;
    made.expr = whole;
    made.left = left;
    made.right = right;
    made.relation = relation;
    return std::vector<Conjunction>{{made}};
  }

  /// A `min`, `max` or `if` in an expression; kNoExpr: none.
  ExprId choiceIn(ExprId expr) const {
    const std::vector<ExprId> cone = pool.cone(expr);
    const auto found = std::find_if(cone.begin(), cone.end(), [&](ExprId id) {
      return pool[id].op == ExprOp::Select || pool[id].op == ExprOp::Min || pool[id].op == ExprOp::Max;
    });
    return found != cone.end() ? *found : sema::kNoExpr;
  }

  Form arms(ExprId condition, Form then, Form otherwise) {
    return either(both(form(condition, false), std::move(then)), both(form(condition, true), std::move(otherwise)));
  }

  Form either(Form a, const Form& b) const {
    if (!a || !b || a->size() + b->size() > limit) return std::nullopt;
    a->insert(a->end(), b->begin(), b->end());
    return a;
  }

  Form both(const Form& a, const Form& b) const {
    if (!a || !b || a->size() * b->size() > limit) return std::nullopt;
    std::vector<Conjunction> made;
    for (const Conjunction& left : *a) {
      for (const Conjunction& right : *b) {
        Conjunction one = left;
        for (const Predicate& atom : right) {
          const bool known = std::any_of(one.begin(), one.end(), [&](const Predicate& other) { return other.expr == atom.expr; });
          if (!known) one.push_back(atom);
        }
        made.push_back(std::move(one));
      }
    }
    return made;
  }

  sema::ExprPool& pool;
  std::size_t limit;
  int depth = 0;
};

}  // namespace

std::optional<std::vector<Conjunction>> conjunctionsOf(sema::ExprPool& pool, ExprId condition, std::size_t limit) {
  return Splitter(pool, limit).form(condition, false);
}

ExprId replaced(sema::ExprPool& pool, ExprId expr, ExprId from, ExprId to) {
  std::map<ExprId, ExprId> made{{from, to}};
  std::vector<ExprId> open{expr};
  while (!open.empty()) {
    const ExprId id = open.back();
    if (made.count(id) != 0) {
      open.pop_back();
      continue;
    }
    const ExprNode node = pool[id];
    bool ready = true;
    for (const ExprId operand : {node.a, node.b, node.c}) {
      if (operand == sema::kNoExpr || made.count(operand) != 0) continue;
      open.push_back(operand);
      ready = false;
    }
    if (!ready) continue;
    open.pop_back();
    const auto of = [&](ExprId operand) { return operand == sema::kNoExpr ? operand : made.at(operand); };
    const bool isLeaf = node.a == sema::kNoExpr;
    made[id] = isLeaf ? id : pool.make(node.op, of(node.a), of(node.b), of(node.c));
  }
  return made.at(expr);
}

}  // namespace tbem::spec
