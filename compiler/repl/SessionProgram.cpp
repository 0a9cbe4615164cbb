#include "compiler/repl/SessionProgram.h"

#include "compiler/diagnostics/Session.h"
#include "compiler/sema/Modules.h"
#include "compiler/support/Trim.h"
#include "compiler/syntax/parse/Parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tbem::repl {

namespace {

constexpr std::string_view kBetween = " \t\r\n\f;";  ///< declarations

/// The end of the line on which a declaration ends, where nothing but a comment stands behind it; else its own end.
std::size_t withComment(std::string_view text, std::size_t end) {
  const std::size_t next = text.find_first_not_of(" \t", end);
  if (next == std::string_view::npos || text.substr(next, 2) != "//") return end;
  return std::min(text.find('\n', next), text.size());
}

Piece pieceOf(const ast::Decl& decl, std::string text) {
  Piece piece;
  piece.text = std::move(text);
  if (sema::isNamed(decl)) {
    piece.name = piece.key = decl.name.text;
  } else if (const auto* measured = ast::dynCast<ast::Measure>(&decl)) {
    piece.key = "measure " + measured->name.text;
  } else if (const auto* assumed = ast::dynCast<ast::Assume>(&decl)) {
    piece.key = "assume " + assumed->input.text;
  } else {
    piece.key = piece.text;
  }
  return piece;
}

}  // namespace

std::vector<Piece> piecesOf(std::string_view text) {
  Session trial;
  const Source& source = trial.sources.add("", std::string(text));
  const std::unique_ptr<ast::File> file = syntax::parse(source, trial.sink);
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (const ast::Decl* decl : file->declarations) {
    const std::size_t end = withComment(text, decl->range.end - source.base);
    pieces.push_back(pieceOf(*decl, std::string(trimmed(text.substr(begin, end - begin), kBetween))));
    begin = end;
  }
  return pieces;
}

std::string SessionProgram::text() const {
  std::string text;
  for (const Piece& piece : list) text += piece.text + "\n";
  return text;
}

std::vector<std::string> SessionProgram::put(const std::vector<Piece>& pieces) {
  std::vector<std::string> replaced;
  for (const Piece& piece : pieces) {
    const auto before = std::ranges::find(list, piece.key, &Piece::key);
    if (before == list.end()) {
      list.push_back(piece);
      continue;
    }
    if (!piece.name.empty() && before->text != piece.text) replaced.push_back(piece.name);
    *before = piece;
  }
  return replaced;
}

bool SessionProgram::remove(std::string_view name) {
  return std::erase_if(list, [&](const Piece& piece) { return piece.name == name && !name.empty(); }) != 0;
}

bool SessionProgram::has(std::string_view name) const {
  return std::ranges::any_of(list, [&](const Piece& piece) { return piece.name == name; });
}

std::vector<SessionProgram::Place> SessionProgram::placesOf(const std::vector<Piece>& pieces) const {
  std::vector<Place> places;
  std::size_t at = 0;
  for (const Piece& piece : list) {
    if (std::ranges::find(pieces, piece.key, &Piece::key) != pieces.end()) places.push_back({at, at + piece.text.size()});
    at += piece.text.size() + 1;
  }
  return places;
}

}  // namespace tbem::repl
