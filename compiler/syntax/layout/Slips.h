// What other languages write, renamed before the layout pass sees it, each with a report and a fix.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <antlr4-runtime.h>

#include <memory>
#include <vector>

namespace tbem::syntax {

/// Renames slips (`==`, `&&`, `'text'`, `# comment` ...), drops characters that mean nothing, closes texts and comments that were
/// left open. After it no token has a type that the parser does not know.
void renameSlips(std::vector<std::unique_ptr<antlr4::Token>>& raw, const Source& source, DiagnosticSink& sink);

}  // namespace tbem::syntax
