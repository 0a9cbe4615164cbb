// Statements: the names that they begin, and what is assigned.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Suggest.h"
#include "compiler/sema/check/NameChecker.h"

#include <algorithm>
#include <iterator>

namespace tbem::sema {

namespace {
/// Whatever its conditions are, nothing that stands behind it is reached.
bool alwaysReturns(const ast::Stmt& statement) {
  if (statement.kind == ast::NodeKind::Return) return true;
  const auto* branch = ast::dynCast<ast::IfStmt>(&statement);
  const auto ends = [](const ast::Block& block) {
    return std::any_of(block.begin(), block.end(), [](const ast::Stmt* one) { return alwaysReturns(*one); });
  };
  return branch != nullptr && ends(branch->then) && ends(branch->otherwise);
}
}  // namespace

void NameChecker::block(const ast::Block& block) {
  const std::size_t mark = names.size();
  for (const ast::Stmt* one : block) statement(*one);
  leave(mark);
  const auto last = std::find_if(block.begin(), block.end(), [](const ast::Stmt* one) { return alwaysReturns(*one); });
  if (last != block.end() && std::next(last) != block.end())
    sink.report(diag::unreachable, (*std::next(last))->range).label((*last)->range, "ends the body");
}

void NameChecker::statement(const ast::Stmt& statement) {
  switch (statement.kind) {
    case ast::NodeKind::Let: {
      const auto& let = ast::cast<ast::Let>(statement);
      expr(let.value);
      for (const ast::Name& name : let.pattern.names)
        define(name, let.isVar ? Kind::Var : Kind::Let, nullptr, let.pattern.isTuple);
      break;
    }
    case ast::NodeKind::Assign:
      assign(ast::cast<ast::Assign>(statement));
      break;
    case ast::NodeKind::For: {
      const auto& loop = ast::cast<ast::For>(statement);
      expr(loop.domain);
      const std::size_t mark = names.size();
      define(loop.variable, Kind::Loop);
      record(loop.label.range, loop.label.range, Kind::Label);
      block(loop.body);
      leave(mark);
      break;
    }
    case ast::NodeKind::IfStmt: {
      const auto& branch = ast::cast<ast::IfStmt>(statement);
      expr(branch.condition);
      block(branch.then);
      block(branch.otherwise);
      break;
    }
    case ast::NodeKind::Return:
      expr(ast::cast<ast::Return>(statement).value);
      break;
    case ast::NodeKind::Exit:
      expr(ast::cast<ast::Exit>(statement).value);
      expr(ast::cast<ast::Exit>(statement).condition);
      break;
    case ast::NodeKind::Assert:
      expr(ast::cast<ast::Assert>(statement).condition);
      expr(ast::cast<ast::Assert>(statement).message);
      break;
    case ast::NodeKind::WeightStmt:
      weight(ast::cast<ast::WeightStmt>(statement));
      break;
    default:
      break;
  }
}

/// What is assigned and was not begun: a variable that is spelt otherwise, or, as other languages do it, the beginning of a
/// value.
void NameChecker::unbound(const ast::Name& name) {
  std::vector<std::string> variables;
  for (const Name& one : names) {
    if (one.kind == Kind::Var || one.kind == Kind::Buffer) variables.emplace_back(one.text);
  }
  if (name.text.size() > 2 && !nearest(name.text, variables).empty()) return unknown(name);
  if (toldUnknown.insert(name.text).second) {
    sink.report(diag::unknown_name, name.range, name.text)
        .note("a value gets its name by `let " + name.text + " = ...`; one that changes begins by `var " + name.text + " = ...`")
        .fix({name.range.begin, name.range.begin}, "let ");
  }
  define(name, Kind::Var, nullptr, true);
}

void NameChecker::assign(const ast::Assign& assign) {
  expr(assign.value);
  for (const ast::Name& name : assign.pattern.names) {
    const Name* target = find(name.text);
    if (target != nullptr) record(name.range, *target);
    if (target == nullptr) {
      if (program.resolve(module, name.text))
        sink.report(diag::assign_to_let, name.range, name.text);
      else
        unbound(name);
    } else if (target->kind != Kind::Var && target->kind != Kind::Buffer) {
      Diagnostic& d = sink.report(diag::assign_to_let, name.range, name.text);
      d.label(target->range, "bound here");
      if (target->kind == Kind::Let) d.note("a value that changes is bound by `var`");
      if (target->kind == Kind::Tensor || target->kind == Kind::Parameter)
        d.note("what is given stays as it is: begin a value that changes by `var y = " + std::string(name.text) + "`");
    }
  }
}

}  // namespace tbem::sema
