#include "compiler/syntax/format/FormatPieces.h"

#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemParser.h>

#include <algorithm>

namespace tbem::syntax {

namespace {
void dropBlanksAtTheEnd(std::string& text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.pop_back();
}

/// Of several empty lines one, and no blanks where a line ends (the last line too: a text may end in what elsewhere is a comment,
/// and then its token has the blanks behind it).
std::string withFewEmptyLines(const std::string& text) {
  std::string kept;
  for (const char c : text) {
    if (c == '\n') {
      dropBlanksAtTheEnd(kept);
      if (kept.ends_with("\n\n")) continue;
    }
    kept += c;
  }
  dropBlanksAtTheEnd(kept);
  return kept;
}

using P = grammar::TbemParser;

struct Place {
  std::size_t begin, end;
  Piece piece;
};

std::vector<Place> inOrder(const Source& source, const LayoutResult& layout) {
  std::vector<Place> list;
  for (const auto& token : layout.tokens) {
    Place place{token->getStartIndex(), token->getStopIndex() + 1, {}};
    place.piece.type = token->getType();
    if (token->getType() != P::END) place.piece.text = source.text.substr(place.begin, place.end - place.begin);
    if (token->getType() == P::FREE_TEXT) place.piece.text = withFewEmptyLines(place.piece.text);
    list.push_back(std::move(place));
  }
  for (const SrcRange& range : layout.comments) {
    Place place{range.begin - source.base, range.end - source.base, {}};
    place.piece.text = source.text.substr(place.begin, place.end - place.begin);
    dropBlanksAtTheEnd(place.piece.text);
    place.piece.comment = true;
    place.piece.lineComment = place.piece.text.starts_with("//");
    list.push_back(std::move(place));
  }
  std::stable_sort(list.begin(), list.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  return list;
}

void matchBraces(std::vector<Piece>& list) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].type == P::LBRACE) open.push_back(i);
    if (list[i].type != P::RBRACE || open.empty()) continue;
    list[i].partner = open.back();
    list[open.back()].partner = i;
    open.pop_back();
  }
}

/// True if the author broke the line anywhere between two braces.
bool severalLines(const std::vector<Piece>& list, std::size_t open) {
  for (std::size_t i = open + 1; i <= list[open].partner; ++i) {
    if (list[i].breakBefore) return true;
  }
  return false;
}

/// Where braces stand: bodies of several lines have their braces at line ends and beginnings; the `{` of a header of several
/// lines has a line of its own, others end the line before; `} else {` is one line.
void placeBraces(std::vector<Piece>& list) {
  matchBraces(list);
  std::vector<std::size_t> bodies;
  bool header = false;
  bool several = false;  // the header has several lines
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Piece& piece = list[i];
    const bool afterComment = i > 0 && list[i - 1].comment;
    if (depth == 0 && piece.type == P::LBRACE) {
      piece.opensDeclaration = header;
      if (several)
        piece.breakBefore = true;
      else if (!afterComment)
        piece.breakBefore = false;
      header = several = false;
    } else if (piece.type == P::LBRACE && !afterComment) {
      piece.breakBefore = false;
    }
    if (piece.type == P::LBRACE) {
      ++depth;
      if (severalLines(list, i)) bodies.push_back(i);
    }
    if (piece.type == P::RBRACE) --depth;
    if (depth == 0 && piece.begins && beginsDeclaration(piece.type)) {
      header = piece.type == P::OPERATOR || piece.type == P::BLOCK || piece.type == P::NETWORK || piece.type == P::DATASET ||
               piece.type == P::FUNCTION;
      several = false;
    } else if (depth == 0 && header && piece.breakBefore) {
      several = true;
    }
    if (piece.type == P::ELSE && i > 0 && list[i - 1].type == P::RBRACE) piece.breakBefore = false;
  }
  for (const std::size_t open : bodies) {
    const std::size_t close = list[open].partner;
    if (close != open + 1 && !(list[open + 1].lineComment && !list[open + 1].breakBefore)) list[open + 1].breakBefore = true;
    list[close].breakBefore = close != open + 1;
  }
}
}  // namespace

std::vector<Piece> pieces(const Source& source, const LayoutResult& layout) {
  std::vector<Piece> list;
  bool begins = true;
  std::size_t lastEnd = 0;
  for (Place& place : inOrder(source, layout)) {
    if (place.piece.type == P::END && !place.piece.comment) {
      begins = true;
      continue;
    }
    Piece piece = std::move(place.piece);
    const auto from = source.text.begin() + static_cast<std::ptrdiff_t>(lastEnd);
    const auto newlines = std::count(from, source.text.begin() + static_cast<std::ptrdiff_t>(place.begin), '\n');
    const bool first = list.empty();
    const bool afterPrivate = !first && list.back().type == P::PRIVATE;
    piece.breakBefore = !first && ((newlines > 0 && !afterPrivate) || list.back().lineComment);
    piece.blankBefore = !first && newlines > 1;
    if (!piece.comment) {
      piece.begins = begins || (!first && list.back().type == P::LBRACE) || afterPrivate;
      begins = piece.type == P::LBRACE;
    }
    lastEnd = place.end;
    list.push_back(std::move(piece));
  }
  placeBraces(list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].breakBefore || list[i].type == P::RBRACE || (i > 0 && list[i - 1].type == P::LBRACE))
      list[i].blankBefore = false;
  }
  return list;
}

}  // namespace tbem::syntax
