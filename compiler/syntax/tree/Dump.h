// The tree as text: one line a declaration, clause or statement, nested by indentation, expressions as s-expressions. Without
// ranges and comments, so that two sources with the same meaning give the same text.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <string>

namespace tbem::syntax {

std::string dump(const ast::File& file);
std::string dump(const ast::Expr& expr);
std::string dump(const ast::Type& type);

}  // namespace tbem::syntax
