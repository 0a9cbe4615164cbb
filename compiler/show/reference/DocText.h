// What `tbemc doc` says of a declaration in one line.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/syntax/tree/Ast.h"

#include <string>
#include <string_view>

namespace tbem::driver {

/// "operator", "block", "network", "function", ...
const char* kindOf(const ast::Decl& decl);

/// An operator, block, network or dataset up to its results, on one line.
std::string signature(const Session& session, const ast::Callable& callable);

/// On one line; "" of "".
std::string firstSentence(std::string_view text);
/// Of its documentation.
std::string firstSentence(const ast::Decl& decl);

}  // namespace tbem::driver
