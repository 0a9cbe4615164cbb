// Gates: `skip` and `exit`.
#include "compiler/graph/Elaborator.h"

namespace tbem::graph {

Value Elaborator::skip(const ast::Skip& expr) { return fail(Diag::not_there_yet, expr.range, "`skip` is"); }

bool Elaborator::exitStatement(const ast::Exit& statement) {
  fail(Diag::not_there_yet, statement.range, "`exit` is");
  return false;
}

}  // namespace tbem::graph
