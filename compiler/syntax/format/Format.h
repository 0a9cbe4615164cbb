// Canonical layout of a source.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <optional>
#include <string>

namespace tbem::syntax {

/// The source in canonical layout (two blanks a level, lines of 120 columns, clauses of a header aligned), or nothing where it
/// does not parse or the result would not read the same; diagnostics say why. Line breaks inside brackets are the author's, blank
/// lines are kept up to one. Every comment is kept. Idempotent.
std::optional<std::string> format(const Source& source, DiagnosticSink& sink);

}  // namespace tbem::syntax
