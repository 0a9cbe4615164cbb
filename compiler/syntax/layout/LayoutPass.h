// The state of the layout pass. Layout.cpp: newlines and words; LayoutBrackets.cpp: brackets and braces, and their repair.
#pragma once

#include "compiler/syntax/layout/Layout.h"

#include <TbemParser.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::syntax {

class LayoutPass {
public:
  using P = grammar::TbemParser;
  using TokenPtr = std::unique_ptr<antlr4::Token>;

  /// `byIndentation`: braces do not balance, so indentation says which `}` belongs to which `{`.
  LayoutPass(antlr4::Lexer& lexer, const Source& source, DiagnosticSink& sink, bool byIndentation)
      : lexer(lexer), source(source), sink(sink), byIndentation(byIndentation) {}

  LayoutResult run();
  bool unbalanced() const { return braceLost; }

private:
  enum class Kind : std::uint8_t { Bracket, Literal, Body };
  struct Open {
    Kind kind;
    std::size_t type;  ///< LPAREN, LBRACK, LCURLY, LBRACE
    SrcRange range;
    std::size_t line;
    int indent;  ///< of the line that it stands in
  };

  antlr4::Lexer& lexer;
  const Source& source;
  DiagnosticSink& sink;
  bool byIndentation;
  bool braceLost = false;
  std::vector<TokenPtr> raw;
  LayoutResult result;
  std::vector<Open> open;
  bool newline = false;  ///< a newline stands between the last token and this one
  std::string pendingDocs;
  std::size_t repairLine = 0;  ///< line of the last report about brackets
  std::size_t last = 0;        ///< type of the last token that was emitted, 0 at the beginning
  std::size_t beforeLast = 0;
  std::size_t lastEnd = 0;        ///< offset after it
  bool lastIsClauseWord = false;  ///< the last token is the word of a clause, not an operand
  bool inProcess = false;

  std::string_view text(const antlr4::Token& token) const {
    return std::string_view(source.text).substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
  }
  SrcRange range(const antlr4::Token& token) const {
    return {source.base + static_cast<Loc>(token.getStartIndex()), source.base + static_cast<Loc>(token.getStopIndex() + 1)};
  }
  bool inBracket() const { return !open.empty() && open.back().kind != Kind::Body; }
  bool clauseBegins() const { return last == 0 || last == P::END || last == P::LBRACE || last == P::PRIVATE; }
  bool lastIsOperand() const;
  std::size_t lineOf(std::size_t offset) const;
  int column(std::size_t offset) const;
  int indentOf(std::size_t offset) const;
  std::size_t following(std::size_t i) const;
  void setType(std::size_t i, std::size_t type) { static_cast<antlr4::CommonToken*>(raw[i].get())->setType(type); }

  void step(std::size_t i);
  bool endsStatement(std::size_t i) const;
  void comment(const antlr4::Token& token);
  void retype(std::size_t i);
  void retypeWord(std::size_t i);
  bool unit(std::size_t i);
  void touching(std::size_t i);
  bool multiplies(std::size_t i) const;
  void emit(std::size_t i);
  void emitEnd();
  void push(TokenPtr token);
  void pushMade(std::size_t type);

  void closeLostBrackets(std::size_t i);
  bool endsBrackets(std::size_t i) const;
  bool declares(std::size_t i) const;
  void closeBrackets(std::size_t keep, std::string_view where);
  void closeBodies(std::size_t keep);
  void opened(std::size_t i, Kind kind);
  bool closed(std::size_t i);
  bool closedBody(std::size_t i);
  bool unmatched(std::size_t i);
  std::optional<Loc> lostBrace(std::size_t offset) const;
  bool wrongCloser(std::size_t i, std::size_t wanted);
  bool tellsBracket(std::size_t offset);
  bool closesLater(std::size_t i, std::size_t closer) const;
};

}  // namespace tbem::syntax
