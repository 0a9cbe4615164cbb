// The conditions of a declaration: `pre`, `requires`, and `post`, which also defines names.
#include "compiler/graph/Elaborator.h"

#include <algorithm>

namespace tbem::graph {

bool Elaborator::requireCondition(Activation& a, sema::Requirement kind, const ast::Expr& condition) {
  const Value value = evaluate(condition);
  if (value.isPoison()) return false;
  if (value.is(ValueKind::Bool)) return require(kind, value.expr, condition, a.range, a.decl->name.text, "");
  wrongKind(condition.range, kind == sema::Requirement::Pre ? "`pre`" : "`post`", "a bool", value);
  return false;
}

bool Elaborator::checkConditions(Activation& a) {
  for (const ast::Expr* clause : a.decl->pre) {
    std::vector<const ast::Expr*> parts;
    conjuncts(*clause, parts);
    for (const ast::Expr* part : parts) {
      if (!requireCondition(a, sema::Requirement::Pre, *part)) return false;
    }
  }
  return std::all_of(a.decl->requirements.begin(), a.decl->requirements.end(),
                     [&](const ast::Expr* requirement) { return checkRequirement(a, *requirement); });
}

/// `requires P(arguments)`: the process's `pre` and its `post` with its only output true.
bool Elaborator::checkRequirement(Activation& a, const ast::Expr& expr) {
  const auto* call = ast::dynCast<ast::Call>(&expr);
  const Value callee = call != nullptr ? evaluate(*call->callee) : evaluate(expr);
  if (callee.isPoison()) return false;
  const auto* process = ast::dynCast<ast::Process>(callee.decl);
  if (process == nullptr || call == nullptr) {
    fail(Diag::wrong_kind, expr.range, "`requires`", "a call of a process", kindName(callee));
    return false;
  }
  const bool oneOutput = process->outputs.size() == 1 && process->outputs.front().size() == 1;
  const auto* type = oneOutput ? ast::dynCast<ast::NamedType>(process->outputs.front().front().type) : nullptr;
  if (process->inputs.size() > 1 || type == nullptr || type->name.text != "bool") {
    fail(Diag::wrong_kind, expr.range, "`requires`", "a process with one group of inputs and one bool as its output",
         "`" + process->name.text + "`");
    return false;
  }
  sema::Arguments arguments = evaluateArguments(*call, nullptr);
  Frame callFrame;
  callFrame.module = callee.module;
  callFrame.decl = process;
  std::vector<Value> none;
  const std::vector<ast::Parameter> noInputs;
  const sema::Signature signature{
      process->name.text, callee.module, process, {}, process->inputs.empty() ? noInputs : process->inputs.front()};
  if (!bind(signature, arguments, callFrame, none, 0)) return false;
  callFrame.define(process->outputs.front().front().name.text, truth(true));
  Frame* const before = frame;
  frame = &callFrame;
  bool good = true;
  for (const ast::Expr* condition : {process->pre, process->post}) {
    if (condition == nullptr || !good) continue;
    const Value value = evaluate(*condition);
    good = value.is(ValueKind::Bool);
    if (good) {
      frame = before;
      good = require(sema::Requirement::Requires, value.expr, expr, a.range, a.decl->name.text, "");
      frame = &callFrame;
    }
  }
  frame = before;
  return good;
}

bool Elaborator::definePosts(Activation& a, std::vector<const ast::Expr*>& remaining) {
  for (const ast::Expr* clause : a.decl->post) {
    std::vector<const ast::Expr*> parts;
    conjuncts(*clause, parts);
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
  }
  return true;
}

bool Elaborator::checkPosts(Activation& a, const std::vector<const ast::Expr*>& remaining) {
  return std::all_of(remaining.begin(), remaining.end(),
                     [&](const ast::Expr* part) { return requireCondition(a, sema::Requirement::Post, *part); });
}

}  // namespace tbem::graph
