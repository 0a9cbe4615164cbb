#include "compiler/syntax/layout/Layout.h"

#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/support/Units.h"
#include "compiler/syntax/layout/FreeText.h"
#include "compiler/syntax/layout/LayoutPass.h"
#include "compiler/syntax/layout/LayoutRules.h"
#include "compiler/syntax/layout/Slips.h"
#include "compiler/syntax/layout/Words.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tbem::syntax {

LayoutResult LayoutPass::run() {
  raw = lexer.getAllTokens();
  foldFreeText(raw, source);
  renameSlips(raw, source, sink);
  for (std::size_t i = 0; i < raw.size(); ++i) step(i);
  if (!open.empty()) {
    closeBrackets(0, "the end of the text");
    closeBodies(0);
  }
  emitEnd();
  const bool unknownWord =
      result.tokens.size() > 1 && result.tokens[0]->getType() == P::ID && result.tokens[1]->getType() == P::ID;
  if (unknownWord) result.hasDeclaration = true;
  result.bracesLost = braceLost;
  return std::move(result);
}

bool LayoutPass::lastIsOperand() const { return !lastIsClauseWord && endsOperand(last); }

/// Type of the next token that is neither a newline nor a comment; 0 at the end.
std::size_t LayoutPass::following(std::size_t i) const {
  for (++i; i < raw.size(); ++i) {
    if (raw[i]->getType() != P::NEWLINE && raw[i]->getChannel() == 0) return raw[i]->getType();
  }
  return 0;
}

void LayoutPass::step(std::size_t i) {
  antlr4::Token& token = *raw[i];
  if (token.getType() == P::NEWLINE) {
    newline = true;
    return;
  }
  if (token.getChannel() != 0) {
    comment(token);
    return;
  }
  closeLostBrackets(i);
  if (newline && !inBracket() && endsStatement(i)) emitEnd();
  retype(i);
  emit(i);
  newline = false;
}

/// True if the newline before token `i`, outside of brackets, ends a statement. One that wants more ends too where what follows
/// can only begin another.
bool LayoutPass::endsStatement(std::size_t i) const {
  switch (raw[i]->getType()) {
    case P::LET:
    case P::VAR:
    case P::RETURN:
    case P::EXIT:
    case P::FOR:
      return last != P::ELSE && last != P::PRIVATE;
    default:
      return declares(i) || (!wantsMore(last) && !continues(raw[i]->getType()));
  }
}

void LayoutPass::comment(const antlr4::Token& token) {
  result.comments.push_back(range(token));
  const std::string_view all = text(token);
  if (all.find('\n') != std::string_view::npos) newline = true;
  if (!all.starts_with("///")) return;
  std::string_view line = all.substr(3);
  if (line.starts_with(' ')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  if (!pendingDocs.empty()) pendingDocs += '\n';
  pendingDocs += line;
}

void LayoutPass::retype(std::size_t i) {
  const std::size_t type = raw[i]->getType();
  if (multiplies(i)) pushMade(P::TIMES);
  if (type == P::ID) retypeWord(i);
  const bool isType = inProcess && last == P::OF;  // `set of {<a>, <b>}`
  if (type == P::LBRACE && (inBracket() || last == 0 || isType || opensLiteral(last))) setType(i, P::LCURLY);
  if (type == P::LPAREN || type == P::LBRACK) touching(i);
}

/// In a process a number is a factor of the name or bracket that touches it, as formulas are printed: `2P`, `2(H - F)`.
bool LayoutPass::multiplies(std::size_t i) const {
  if (!inProcess || last != P::NUMBER || raw[i]->getStartIndex() != lastEnd) return false;
  if (raw[i]->getType() == P::LPAREN) return true;
  const SoftWord* soft = raw[i]->getType() == P::ID ? findSoftWord(text(*raw[i])) : nullptr;
  return raw[i]->getType() == P::ID && (soft == nullptr || soft->kind != WordClass::Connector);
}

void LayoutPass::retypeWord(std::size_t i) {
  if (last == P::NUMBER && !newline && unit(i)) return;
  const SoftWord* soft = findSoftWord(text(*raw[i]));
  if (soft == nullptr) return;
  if (soft->kind == WordClass::Connector) {
    if (endsOperand(last) && (!lastIsClauseWord || open.empty())) setType(i, soft->token);
    return;
  }
  const std::size_t next = following(i);
  const bool indexed = next == P::LBRACK && raw[i + 1]->getType() == P::LBRACK;
  if (!clauseBegins() || next == P::EQ || next == P::COLON || next == P::DOT || indexed) return;
  const bool inside = !open.empty();
  const bool stands = soft->kind == WordClass::Anywhere || (soft->kind == WordClass::Body ? inside : !inside);
  if (!stands) return;
  if (soft->kind == WordClass::Declaration) {
    const bool constant = soft->token == P::PRIVATE && next == P::LET;
    if (soft->token == P::TBEM ? next != P::NUMBER || last != 0 : next != P::ID && !constant) return;
    if (soft->token != P::PRIVATE) result.hasDeclaration = true;
  }
  setType(i, soft->token);
}

/// A word after a number: a unit, or nearly one.
bool LayoutPass::unit(std::size_t i) {
  const std::string_view word = text(*raw[i]);
  if (isUnitWord(word)) {
    setType(i, P::UNIT);
    return true;
  }
  if (findSoftWord(word) != nullptr) return false;
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const UnitWord& each : unitWords()) {
    if (!std::equal(word.begin(), word.end(), each.word.begin(), each.word.end(), same)) continue;
    sink.report(diag::syntax_unit, range(*raw[i]), word).fix(range(*raw[i]), std::string(each.word));
    setType(i, P::UNIT);
    return true;
  }
  return false;
}

/// The `(` of a call and the `[` of an index touch what they belong to.
void LayoutPass::touching(std::size_t i) {
  if (!lastIsOperand() || raw[i]->getStartIndex() == lastEnd || beginsDeclaration(beforeLast)) return;
  const SrcRange gap{source.base + static_cast<Loc>(lastEnd), range(*raw[i]).begin};
  const bool call = raw[i]->getType() == P::LPAREN;
  Diagnostic& told = sink.report(diag::syntax_touching, range(*raw[i]), call ? "(" : "[", call ? "call" : "index");
  if (inBracket())
    told.fix({gap.begin, gap.begin}, ",");
  else
    told.fix(gap, "");
}

void LayoutPass::emit(std::size_t i) {
  const std::size_t type = raw[i]->getType();
  if (type == P::SEMI && !inBracket()) {
    emitEnd();
    return;
  }
  if (!pendingDocs.empty()) result.documentation.emplace(raw[i]->getStartIndex(), std::exchange(pendingDocs, {}));
  if (type == P::LET && open.empty()) result.hasDeclaration = true;
  switch (type) {
    case P::LPAREN:
    case P::LBRACK:
      opened(i, Kind::Bracket);
      break;
    case P::LCURLY:
      opened(i, Kind::Literal);
      break;
    case P::LBRACE:
      opened(i, Kind::Body);
      break;
    case P::RPAREN:
    case P::RBRACK:
    case P::RBRACE:
      if (!closed(i)) return;
      break;
    default:
      break;
  }
  push(std::move(raw[i]));
}

void LayoutPass::emitEnd() {
  if (last == 0 || last == P::END || last == P::LBRACE) return;
  pushMade(P::END);
}

/// A token that the source does not have, of no width, after the last one.
void LayoutPass::pushMade(std::size_t type) {
  push(std::make_unique<antlr4::CommonToken>(
      std::make_pair<antlr4::TokenSource*, antlr4::CharStream*>(&lexer, lexer.getInputStream()), type, 0, lastEnd, lastEnd - 1));
}

void LayoutPass::push(TokenPtr token) {
  lastIsClauseWord = token->getType() == P::ID && clauseBegins();
  beforeLast = last;
  last = token->getType();
  if (last == P::END_PROCESS || beginsDeclaration(last)) inProcess = last == P::PROCESS;
  lastEnd = token->getStopIndex() + 1;
  result.tokens.push_back(std::move(token));
}

LayoutResult layOut(antlr4::Lexer& lexer, const Source& source, DiagnosticSink& sink) {
  DiagnosticSink found;
  LayoutPass pass(lexer, source, found, false);
  LayoutResult result = pass.run();
  if (pass.unbalanced()) {
    lexer.reset();
    found.clear();
    result = LayoutPass(lexer, source, found, true).run();
    result.bracesLost = true;
  }
  for (const Diagnostic& each : found.all()) sink.append(each);
  return result;
}

}  // namespace tbem::syntax
