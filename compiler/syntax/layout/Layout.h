// The layout pass: from the lexer's tokens to the parser's. It alone knows about newlines.
//
// It emits END where a newline or `;` ends a statement or a clause, tells the `{` of a record or set (LCURLY) from that of a body
// (LBRACE), gives soft words the type of a word where they stand as one, marks units, and renames what other languages write.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <antlr4-runtime.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tbem::syntax {

struct LayoutResult {
  std::vector<std::unique_ptr<antlr4::Token>> tokens;  ///< for a ListTokenSource; without the end of the file
  std::map<std::size_t, std::string> documentation;    ///< `///` lines, by the offset of the token that they precede
  std::vector<SrcRange> comments;
  bool bracesLost = false;      ///< braces do not balance: what comes after is a guess
  bool hasDeclaration = false;  ///< else the text is one expression
};

/// Offsets of tokens are byte offsets in the source. `lexer` must outlive the tokens.
LayoutResult layOut(antlr4::Lexer& lexer, const Source& source, DiagnosticSink& sink);

}  // namespace tbem::syntax
