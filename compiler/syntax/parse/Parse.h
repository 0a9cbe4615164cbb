// Text to tree. The parser generator and its runtime are seen only behind this header.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/tree/Ast.h"

#include <memory>

namespace tbem::syntax {

/// Parses one source (a file or an `-e` text). Always returns a tree; what could not be read is left out or an ast::Error,
/// and up to 20 diagnostics say why. Terminates on every input; nesting is limited (E01xx), never the stack's business.
std::unique_ptr<ast::File> parse(const Source& source, DiagnosticSink& sink);

}  // namespace tbem::syntax
