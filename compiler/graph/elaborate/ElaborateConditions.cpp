// The conditions of a declaration: `pre`, `requires`, and `post`, which also defines names.
#include "compiler/graph/elaborate/Elaborator.h"

#include "compiler/sema/Walk.h"

#include <algorithm>

namespace tbem::graph {

bool Elaborator::requireCondition(Activation& a, sema::Requirement kind, const ast::Expr& condition) {
  // What an optimiser asks of a rate holds for a number; a schedule, which is a tensor by now, has conditions of its own.
  const auto isSchedule = [](const Local& local) { return local.isParameter && local.value.is(ValueKind::Tensor); };
  const auto namesSchedule = [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    const Local* local = name != nullptr ? frame->find(name->name.text) : nullptr;
    return local != nullptr && isSchedule(*local);
  };
  if (phase() == Phase::Optimizer && std::ranges::any_of(frame->locals, isSchedule) && sema::anyInside(condition, namesSchedule))
    return true;
  const Value value = evaluate(condition);
  if (value.isPoison()) return false;
  if (value.is(ValueKind::Bool)) return require(kind, value.expr, condition, a.range, a.decl->name.text, "");
  wrongKind(condition.range, kind == sema::Requirement::Pre ? "`pre`" : "`post`", "a bool", value);
  return false;
}

bool Elaborator::checkConditions(Activation& a) {
  std::vector<const ast::Expr*> parts;
  for (const ast::Expr* clause : a.decl->pre) conjuncts(*clause, parts);
  for (const ast::Expr* part : parts) {
    if (!requireCondition(a, sema::Requirement::Pre, *part)) return false;
  }
  return std::all_of(a.decl->requirements.begin(), a.decl->requirements.end(), [&](const ast::Expr* requirement) {
    return sema::namesResults(*a.decl, *requirement) || checkRequirement(a, *requirement, sema::Requirement::Requires);
  });
}

/// `requires P(arguments)`: the process's `pre`, and its `post` with the outputs that are given.
bool Elaborator::checkRequirement(Activation& a, const ast::Expr& expr, sema::Requirement kind) {
  return forEachRequired(expr, [&](ExprId condition) { return require(kind, condition, expr, a.range, a.decl->name.text, ""); });
}

bool Elaborator::definePosts(Activation& a, std::vector<const ast::Expr*>& remaining) {
  std::vector<const ast::Expr*> parts;
  for (const ast::Expr* clause : a.decl->post) conjuncts(*clause, parts);
  for (const ast::Expr* part : parts) {
    const auto* equation = ast::dynCast<ast::Binary>(part);
    const auto* name =
        equation != nullptr && equation->op == ast::BinaryOp::Equal ? ast::dynCast<ast::NameRef>(equation->left) : nullptr;
    if (name == nullptr || a.frame.find(name->name.text) != nullptr) {
      remaining.push_back(part);
      continue;
    }
    Value value = evaluate(*equation->right);
    if (value.isPoison()) return false;
    a.frame.define(name->name.text, std::move(value), name->range);
  }
  return true;
}

/// `post`, then what `requires` says of `results`, which are tensors or lists of them.
bool Elaborator::checkPosts(Activation& a, const std::vector<const ast::Expr*>& remaining, const std::vector<Value>& results) {
  const bool good = std::all_of(remaining.begin(), remaining.end(),
                                [&](const ast::Expr* part) { return requireCondition(a, sema::Requirement::Post, *part); });
  if (!good) return false;
  const std::size_t mark = a.frame.locals.size();
  if (a.decl->results.size() == 1 && a.decl->results.front().name.empty() && results.size() == 1)
    a.frame.define("result", results.front(), a.decl->results.front().range);
  const bool met = std::all_of(a.decl->requirements.begin(), a.decl->requirements.end(), [&](const ast::Expr* requirement) {
    return !sema::namesResults(*a.decl, *requirement) || checkRequirement(a, *requirement, sema::Requirement::RequiresOfResult);
  });
  a.frame.locals.resize(mark);
  return met;
}

}  // namespace tbem::graph
