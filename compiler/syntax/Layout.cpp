#include "compiler/syntax/Layout.h"

#include "compiler/syntax/LayoutRules.h"
#include "compiler/syntax/Words.h"

#include <TbemParser.h>

#include <utility>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;
using TokenPtr = std::unique_ptr<antlr4::Token>;

class LayoutPass {
public:
  LayoutPass(antlr4::Lexer& lexer, const Source& source, DiagnosticSink& sink) : lexer(lexer), source(source), sink(sink) {}

  LayoutResult run() {
    raw = lexer.getAllTokens();
    for (std::size_t i = 0; i < raw.size(); ++i) step(i);
    emitEnd();
    return std::move(result);
  }

private:
  enum class Open : std::uint8_t { Bracket, Literal, Body };

  antlr4::Lexer& lexer;
  const Source& source;
  DiagnosticSink& sink;
  std::vector<TokenPtr> raw;
  LayoutResult result;
  std::vector<Open> open;
  bool newline = false;          ///< a newline stands between the last token and this one
  std::string pendingDocs;
  std::size_t last = 0;          ///< type of the last token that was emitted, 0 at the beginning
  std::size_t lastEnd = 0;       ///< offset after it
  bool lastIsClauseWord = false; ///< the last token is the word of a clause, not an operand

  std::string_view text(const antlr4::Token& token) const {
    return std::string_view(source.text).substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
  }
  SrcRange range(const antlr4::Token& token) const {
    return {source.base + static_cast<Loc>(token.getStartIndex()), source.base + static_cast<Loc>(token.getStopIndex() + 1)};
  }
  bool inBracket() const { return !open.empty() && open.back() != Open::Body; }
  bool clauseBegins() const { return last == 0 || last == P::END || last == P::LBRACE || last == P::PRIVATE; }
  bool lastIsOperand() const { return !lastIsClauseWord && endsOperand(last); }

  /// Type of the next token that is neither a newline nor a comment; `sameLine`: 0 where a newline comes first.
  std::size_t following(std::size_t i, bool sameLine) const {
    for (++i; i < raw.size(); ++i) {
      const std::size_t type = raw[i]->getType();
      if (type == P::NEWLINE && sameLine) return 0;
      if (type != P::NEWLINE && raw[i]->getChannel() == 0) return type;
    }
    return 0;
  }

  void step(std::size_t i) {
    antlr4::Token& token = *raw[i];
    if (token.getType() == P::NEWLINE) {
      newline = true;
      return;
    }
    if (token.getChannel() != 0) {
      comment(token);
      return;
    }
    if (newline && !inBracket() && !wantsMore(last) && !continues(token.getType())) emitEnd();
    retype(i);
    emit(i);
    newline = false;
  }

  void comment(const antlr4::Token& token) {
    result.comments.push_back(range(token));
    const std::string_view all = text(token);
    if (all.find('\n') != std::string_view::npos) newline = true;
    if (all.starts_with("///")) {
      std::string_view line = all.substr(3);
      if (line.starts_with(' ')) line.remove_prefix(1);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
      if (!pendingDocs.empty()) pendingDocs += '\n';
      pendingDocs += line;
    }
  }

  void setType(std::size_t i, std::size_t type) { static_cast<antlr4::CommonToken*>(raw[i].get())->setType(type); }

  void retype(std::size_t i) {
    const std::size_t type = raw[i]->getType();
    if (type == P::ID) retypeWord(i);
    if (type == P::LBRACE && (inBracket() || opensLiteral(last))) setType(i, P::LCURLY);
    if (type == P::RBRACE && inBracket() && open.back() == Open::Literal) setType(i, P::RCURLY);
  }

  void retypeWord(std::size_t i) {
    const std::string_view word = text(*raw[i]);
    if (last == P::NUMBER && !newline && isUnitWord(word)) {
      setType(i, P::UNIT);
      return;
    }
    const SoftWord* soft = findSoftWord(word);
    if (soft == nullptr) return;
    if (soft->kind == WordClass::Connector) {
      if (lastIsOperand()) setType(i, soft->token);
      return;
    }
    const std::size_t next = following(i, false);
    if (!clauseBegins() || next == P::EQ || next == P::COLON) return;
    const bool inside = !open.empty();
    const bool stands = soft->kind == WordClass::Anywhere || (soft->kind == WordClass::Body ? inside : !inside);
    if (!stands) return;
    if (soft->kind == WordClass::Declaration) {
      if (soft->token == P::TBEM ? next != P::NUMBER || last != 0 : next != P::ID) return;
      if (soft->token != P::TBEM && soft->token != P::PRIVATE) result.hasDeclaration = true;
    }
    setType(i, soft->token);
  }

  void emitEnd() {
    if (last == 0 || last == P::END || last == P::LBRACE) return;
    auto end = std::make_unique<antlr4::CommonToken>(std::make_pair<antlr4::TokenSource*, antlr4::CharStream*>(&lexer, lexer.getInputStream()),
                                                     P::END, 0, lastEnd, lastEnd - 1);
    push(std::move(end));
  }

  void push(TokenPtr token) {
    lastIsClauseWord = token->getType() == P::ID && clauseBegins();
    last = token->getType();
    lastEnd = token->getStopIndex() + 1;
    result.tokens.push_back(std::move(token));
  }

  void emit(std::size_t i) {
    const std::size_t type = raw[i]->getType();
    if (type == P::SEMI && !inBracket()) {
      emitEnd();
      return;
    }
    if (!pendingDocs.empty()) result.documentation.emplace(raw[i]->getStartIndex(), std::exchange(pendingDocs, {}));
    if (type == P::LET && open.empty()) result.hasDeclaration = true;
    switch (type) {
      case P::LPAREN:
      case P::LBRACK: open.push_back(Open::Bracket); break;
      case P::LCURLY: open.push_back(Open::Literal); break;
      case P::LBRACE: open.push_back(Open::Body); break;
      case P::RPAREN:
      case P::RBRACK:
      case P::RCURLY:
        if (inBracket()) open.pop_back();
        break;
      case P::RBRACE:
        emitEnd();
        if (!open.empty()) open.pop_back();
        break;
      default: break;
    }
    push(std::move(raw[i]));
  }
};
}  // namespace

LayoutResult layOut(antlr4::Lexer& lexer, const Source& source, DiagnosticSink& sink) {
  return LayoutPass(lexer, source, sink).run();
}

}  // namespace tbem::syntax
