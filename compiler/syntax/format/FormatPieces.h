// What the formatter works on: the tokens and comments of a source in order, and the choices made for each.
#pragma once

#include "compiler/diagnostics/Source.h"
#include "compiler/syntax/layout/Layout.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tbem::syntax {

struct Piece {
  std::size_t type = 0;  ///< token type after the layout pass; 0 for a comment
  std::string text;
  bool comment = false;
  bool lineComment = false;       ///< `//`: the line ends after it
  bool begins = false;            ///< begins a statement, clause or part: an END stands before it
  bool breakBefore = false;       ///< begins a line
  bool blankBefore = false;       ///< an empty line before it
  bool clauseWord = false;        ///< the word of a clause: what follows is its operand, not a call of it
  bool part = false;              ///< `name:` of a further part of a clause
  bool opensDeclaration = false;  ///< the `{` of an operator, block, network or function
  bool inHeader = false;          ///< a clause of an operator, block or network
  int extra = 0;                  ///< blanks before it, above what the rules of spacing say (columns)
  std::size_t partner = 0;        ///< of a brace: the index of the other one
};

/// `layout` as of the whole source; its tokens are not changed.
std::vector<Piece> pieces(const Source& source, const LayoutResult& layout);
/// Sets `clauseWord`, `part`, `inHeader`, `extra`: clauses of a header or a body have their operands in one column.
void align(std::vector<Piece>& list);
/// Writes the lines, breaking those over `width` columns where a line may be broken.
std::string writeLines(std::vector<Piece>& list, int width);

}  // namespace tbem::syntax
