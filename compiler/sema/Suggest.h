// What an unknown name was probably meant to be.
#pragma once

#include "compiler/support/Diagnostics.h"
#include "compiler/syntax/Ast.h"

#include <string>
#include <vector>

namespace tbem::sema {

/// Adds to the report of an unknown name, in this order of trust: the standard module that declares it and must be imported, what
/// other frameworks call by that name, the nearest of `candidates` (the names in scope).
void suggest(Diagnostic& report, const ast::Name& name, const std::vector<std::string>& candidates);

}  // namespace tbem::sema
