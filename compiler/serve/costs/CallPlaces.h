// The calls that stand in the bodies of a program's declarations.
#pragma once

#include "compiler/diagnostics/Source.h"
#include "compiler/syntax/tree/Ast.h"

#include <vector>

namespace tbem::serve {

struct CallPlace {
  SrcRange range;   ///< the call; behind `|>` the name or the call that is piped to
  SrcRange callee;  ///< what is called
};

/// Of all operators, blocks and networks of the file, by where they begin; outer ones first where two begin at one place.
std::vector<CallPlace> callPlaces(const ast::File& file);

/// The call that gives the expression its value, behind its last `|>`: where it stands. Invalid: it is another expression.
SrcRange givingCall(const ast::Expr& expr);

/// Calls `visit` for each statement of a body, those inside loops and choices too, in order of text.
template <class Visit>
void forEachStatement(const ast::Block& body, Visit&& visit) {
  for (const ast::Stmt* statement : body) {
    visit(*statement);
    if (const auto* loop = ast::dynCast<ast::For>(statement)) forEachStatement(loop->body, visit);
    if (const auto* choice = ast::dynCast<ast::IfStmt>(statement)) {
      forEachStatement(choice->then, visit);
      forEachStatement(choice->otherwise, visit);
    }
  }
}

}  // namespace tbem::serve
