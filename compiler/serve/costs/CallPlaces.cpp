#include "compiler/serve/costs/CallPlaces.h"

#include "compiler/sema/Walk.h"

#include <algorithm>

namespace tbem::serve {

namespace {

void addCalls(const ast::Expr* expr, std::vector<CallPlace>& places) {
  if (expr == nullptr) return;
  sema::forEachInside(*expr, [&](const ast::Expr& inner) {
    if (const auto* call = ast::dynCast<ast::Call>(&inner)) places.push_back({call->range, call->callee->range});
    const auto* pipe = ast::dynCast<ast::Pipe>(&inner);
    // A call is met by itself.
    if (pipe != nullptr && pipe->target->kind != ast::NodeKind::Call)
      places.push_back({pipe->target->range, pipe->target->range});
  });
}

void addCalls(const ast::Stmt& statement, std::vector<CallPlace>& places) {
  switch (statement.kind) {
    case ast::NodeKind::Let:
      return addCalls(ast::cast<ast::Let>(statement).value, places);
    case ast::NodeKind::Assign:
      return addCalls(ast::cast<ast::Assign>(statement).value, places);
    case ast::NodeKind::For:
      return addCalls(ast::cast<ast::For>(statement).domain, places);
    case ast::NodeKind::IfStmt:
      return addCalls(ast::cast<ast::IfStmt>(statement).condition, places);
    case ast::NodeKind::Return:
      return addCalls(ast::cast<ast::Return>(statement).value, places);
    case ast::NodeKind::Exit:
      addCalls(ast::cast<ast::Exit>(statement).value, places);
      return addCalls(ast::cast<ast::Exit>(statement).condition, places);
    default:
      return;
  }
}

}  // namespace

std::vector<CallPlace> callPlaces(const ast::File& file) {
  std::vector<CallPlace> places;
  for (const ast::Decl* decl : file.declarations) {
    const auto* callable = ast::dynCast<ast::Callable>(decl);
    if (callable != nullptr) forEachStatement(callable->body, [&](const ast::Stmt& statement) { addCalls(statement, places); });
  }
  std::ranges::sort(places, [](const CallPlace& a, const CallPlace& b) {
    return a.range.begin != b.range.begin ? a.range.begin < b.range.begin : a.range.end > b.range.end;
  });
  return places;
}

SrcRange givingCall(const ast::Expr& expr) {
  const auto* pipe = ast::dynCast<ast::Pipe>(&expr);
  const ast::Expr& last = pipe != nullptr ? *pipe->target : expr;
  return pipe != nullptr || last.kind == ast::NodeKind::Call ? last.range : SrcRange{};
}

}  // namespace tbem::serve
