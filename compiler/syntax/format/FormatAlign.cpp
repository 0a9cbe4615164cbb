// Columns: the words of the clauses of one header, or of one `{ }` of a design or the like, are followed by operands in one
// column; so are the values of the named parts of one clause.
#include "compiler/syntax/format/FormatPieces.h"
#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemParser.h>

#include <algorithm>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

bool hasConfig(std::size_t declaration) {
  switch (declaration) {
    case P::MUTATE:
    case P::DESIGN:
    case P::MEASURE:
    case P::REGRESS:
    case P::TRAIN:
    case P::PERTURB:
      return true;
    default:
      return false;
  }
}

class Aligner {
public:
  explicit Aligner(std::vector<Piece>& list) : list(list) {}

  void run() {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].comment) visit(i);
    }
    finishGroup();
  }

private:
  std::vector<Piece>& list;
  std::size_t declaration = 0;  ///< type of the word that began the declaration
  int depth = 0;
  std::vector<std::size_t> group;  ///< indices of the words of clauses that share a column
  std::vector<std::size_t> parts;  ///< indices of the names of parts of one clause

  void visit(std::size_t i) {
    Piece& piece = list[i];
    if (piece.type == P::RBRACE && --depth == 0) finishGroup();
    if (depth == 0 && piece.begins && beginsDeclaration(piece.type)) {
      finishGroup();
      declaration = piece.type;
    }
    const bool config = depth == 1 && hasConfig(declaration);
    const bool header = depth == 0 && (beginsClause(piece.type) || piece.type == P::END_PROCESS);
    const bool next = piece.type == P::ID && i + 1 < list.size();
    const bool external = next && declaration == P::PROCESS && list[i + 1].type == P::ID;  // a further line of `ext`
    const bool part = external || (next && list[i + 1].type == P::COLON);
    if (piece.begins && (header || config || part || beginsClause(piece.type))) clause(i, part, header || config);
    if (piece.type == P::LBRACE) {
      if (depth++ == 0) finishGroup();
    }
  }

  void clause(std::size_t i, bool part, bool grouped) {
    Piece& piece = list[i];
    if (part) {
      piece.part = true;
      if (!parts.empty()) parts.push_back(i);
      return;
    }
    finishParts();
    piece.clauseWord = true;
    piece.inHeader = depth == 0 && declaration != P::PROCESS;
    if (grouped && piece.breakBefore) group.push_back(i);
    const bool named = piece.type == P::FLOPS || piece.type == P::BACKWARD || piece.type == P::UPDATES;
    if (named && i + 1 < list.size()) parts.push_back(i + 1);
  }

  void finishGroup() {
    finishParts();
    std::size_t widest = 0;
    for (const std::size_t i : group) {
      const bool isAlone = list[i].type == P::END_PROCESS || list[i].text == "full" || list[i].text == "filter";
      if (!isAlone) widest = std::max(widest, list[i].text.size());
    }
    for (const std::size_t i : group) {
      if (i + 1 < list.size() && widest > list[i].text.size()) list[i + 1].extra = static_cast<int>(widest - list[i].text.size());
    }
    group.clear();
  }

  void finishParts() {
    std::size_t widest = 0;
    for (const std::size_t i : parts) widest = std::max(widest, list[i].text.size());
    for (const std::size_t i : parts) {
      if (i + 2 < list.size()) list[i + 2].extra = static_cast<int>(widest - list[i].text.size());
    }
    parts.clear();
  }
};
}  // namespace

void align(std::vector<Piece>& list) {
  Aligner aligner(list);
  aligner.run();
}

}  // namespace tbem::syntax
