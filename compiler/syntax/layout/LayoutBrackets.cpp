// Brackets and braces: which opens what, and what to do where one is lost. A lost closing mark is put where the text shows that
// the bracket must have ended (a `let`, a declaration, a clause word and a name cannot stand in brackets); where braces do not
// balance, the indentation of the lines says which `}` is lost or too many.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/layout/LayoutPass.h"
#include "compiler/syntax/layout/LayoutRules.h"
#include "compiler/syntax/layout/Words.h"

#include <algorithm>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

std::size_t closing(std::size_t opening) {
  return opening == P::LPAREN ? P::RPAREN : opening == P::LBRACK ? P::RBRACK : opening == P::LCURLY ? P::RCURLY : P::RBRACE;
}
const char* spelling(std::size_t type) {
  switch (type) {
    case P::LPAREN:
      return "(";
    case P::RPAREN:
      return ")";
    case P::LBRACK:
      return "[";
    case P::RBRACK:
      return "]";
    case P::LCURLY:
    case P::LBRACE:
      return "{";
    default:
      return "}";
  }
}
}  // namespace

std::size_t LayoutPass::lineOf(std::size_t offset) const {
  return static_cast<std::size_t>(std::upper_bound(source.lineStarts.begin(), source.lineStarts.end(), offset) -
                                  source.lineStarts.begin());
}

int LayoutPass::column(std::size_t offset) const { return static_cast<int>(offset - source.lineStarts[lineOf(offset) - 1]); }

int LayoutPass::indentOf(std::size_t offset) const {
  const std::size_t begin = source.lineStarts[lineOf(offset) - 1];
  std::size_t at = begin;
  while (at < source.text.size() && (source.text[at] == ' ' || source.text[at] == '\t')) ++at;
  return static_cast<int>(at - begin);
}

void LayoutPass::opened(std::size_t i, Kind kind) {
  const std::size_t offset = raw[i]->getStartIndex();
  open.push_back({kind, raw[i]->getType(), range(*raw[i]), lineOf(offset), indentOf(offset)});
}

/// A declaration's word and a name, at the beginning of a line without indentation. (A `let` there may be a statement of a body
/// that nobody indented: it counts only where braces do not balance.)
bool LayoutPass::declares(std::size_t i) const {
  const antlr4::Token& token = *raw[i];
  if (!newline || column(token.getStartIndex()) != 0) return false;
  if (token.getType() == P::LET) return byIndentation || open.empty();
  if (token.getType() != P::ID || following(i) != P::ID) return false;
  const SoftWord* soft = findSoftWord(text(token));
  return soft != nullptr && soft->kind == WordClass::Declaration;
}

/// True if this token shows that the brackets that are open should have been closed before it.
bool LayoutPass::endsBrackets(std::size_t i) const {
  const std::size_t type = raw[i]->getType();
  if (following(i) == P::COLON) return false;  // meant as a name: `f(x; exit: int)`
  switch (type) {
    case P::LET:
    case P::VAR:
    case P::RETURN:
    case P::EXIT:
    case P::ARROW:
      return true;
    case P::LBRACE:
      return endsOperand(last);
    case P::FOR:
      return newline && open.back().type != P::LBRACK && endsOperand(last);
    case P::IF:
      return newline && endsOperand(last);
    case P::ID:
      break;
    default:
      return false;
  }
  if (!newline) return false;
  const std::size_t next = following(i);
  if (next == P::EQ) return endsOperand(last);
  const SoftWord* soft = next == P::ID ? findSoftWord(text(*raw[i])) : nullptr;
  return soft != nullptr && soft->kind != WordClass::Connector;
}

void LayoutPass::closeLostBrackets(std::size_t i) {
  if (open.empty()) return;
  const bool declaration = declares(i);
  if (inBracket() && (declaration || endsBrackets(i))) {
    std::size_t keep = open.size();
    while (keep > 0 && open[keep - 1].kind != Kind::Body) --keep;
    closeBrackets(keep, "here");
  }
  if (declaration && !open.empty()) {
    closeBodies(0);
    emitEnd();
  }
}

/// One report for brackets in two neighbouring lines: what follows a lost one is seldom news.
bool LayoutPass::tellsBracket(std::size_t offset) {
  const std::size_t line = lineOf(offset);
  const bool tells = repairLine == 0 || line > repairLine + 1;
  repairLine = line;
  return tells;
}

/// True if `closer` closes the innermost bracket later on the line of token `i`.
bool LayoutPass::closesLater(std::size_t i, std::size_t closer) const {
  int depth = 0;
  for (++i; i < raw.size() && raw[i]->getType() != P::NEWLINE; ++i) {
    const std::size_t type = raw[i]->getType();
    if (type == P::LPAREN || type == P::LBRACK || type == P::LBRACE) ++depth;
    const bool closes = type == P::RPAREN || type == P::RBRACK || type == P::RBRACE;
    if (closes && depth == 0) return type == closer;
    if (closes) --depth;
  }
  return false;
}

/// Closes what is open above the first `keep`, with a report.
void LayoutPass::closeBrackets(std::size_t keep, std::string_view where) {
  while (open.size() > keep && open.back().kind != Kind::Body) {
    const Open lost = open.back();
    open.pop_back();
    const Loc at = source.base + static_cast<Loc>(lastEnd);
    if (tellsBracket(lastEnd))
      sink.report(diag::syntax_unclosed, lost.range, spelling(lost.type))
          .label({at, at}, std::string("`") + spelling(closing(lost.type)) +
                               (where == "here" ? "` expected here" : "` is still expected here"));
    pushMade(closing(lost.type));
  }
}

/// Closes bodies above the first `keep`; one report, at the innermost.
void LayoutPass::closeBodies(std::size_t keep) {
  braceLost = true;
  if (open.size() > keep) {
    const Loc at = source.base + static_cast<Loc>(lastEnd);
    sink.report(diag::syntax_unclosed, open.back().range, "{").label({at, at}, "`}` expected before this ends");
  }
  while (open.size() > keep) {
    const bool body = open.back().kind == Kind::Body;
    if (body) emitEnd();
    pushMade(closing(open.back().type));
    open.pop_back();
  }
}

/// A closing mark: false if it is dropped. May close lost ones before it, and may become the mark that is wanted.
bool LayoutPass::closed(std::size_t i) {
  const std::size_t type = raw[i]->getType();
  const auto matches = [&](const Open& each) {
    return type == P::RBRACE ? each.kind == Kind::Literal : closing(each.type) == type;
  };
  std::size_t below = open.size();
  while (below > 0 && open[below - 1].kind != Kind::Body && !matches(open[below - 1])) --below;
  const bool found = below > 0 && open[below - 1].kind != Kind::Body;
  if (found && below == open.size()) {
    setType(i, closing(open.back().type));
    open.pop_back();
    return true;
  }
  const std::size_t wanted = inBracket() ? closing(open.back().type) : 0;
  const std::size_t wantedRaw = wanted == P::RCURLY ? static_cast<std::size_t>(P::RBRACE) : wanted;
  if (inBracket() && following(i) == wantedRaw && found) return wrongCloser(i, wanted);  // two that changed places
  if (found) {
    closeBrackets(below, "here");
    setType(i, closing(open.back().type));
    open.pop_back();
    return true;
  }
  if (inBracket() && closesLater(i, wantedRaw)) return unmatched(i);
  if (inBracket() && (type != P::RBRACE || open.back().line == lineOf(raw[i]->getStartIndex()))) return wrongCloser(i, wanted);
  if (type == P::RBRACE && !open.empty()) return closedBody(i);
  return unmatched(i);
}

/// Where the `{` of the `}` at this offset was lost: behind the line that its indentation says it closes, and the clauses below
/// that. Nothing where that line has its brace, or nothing stands between.
std::optional<Loc> LayoutPass::lostBrace(std::size_t offset) const {
  const auto& tokens = result.tokens;
  const auto made = [](const TokenPtr& token) { return token->getStopIndex() + 1 == token->getStartIndex(); };
  const int indent = column(offset);
  std::size_t end = tokens.size();  // behind the head
  bool body = false;
  for (; end > 0 && (made(tokens[end - 1]) || indentOf(tokens[end - 1]->getStartIndex()) > indent); --end)
    body = body || !made(tokens[end - 1]);
  if (!body || end == 0 || indentOf(tokens[end - 1]->getStartIndex()) != indent) return std::nullopt;
  if (tokens[end - 1]->getType() == P::LBRACE || tokens[end - 1]->getType() == P::RBRACE) return std::nullopt;
  const auto clause = [&](std::size_t at) {
    return at + 1 < tokens.size() && tokens[at]->getType() == P::END && beginsClause(tokens[at + 1]->getType());
  };
  while (end < tokens.size() && (clause(end) || tokens[end]->getType() != P::END)) ++end;
  return source.base + static_cast<Loc>(tokens[end - 1]->getStopIndex() + 1);
}

bool LayoutPass::unmatched(std::size_t i) {
  const std::size_t type = raw[i]->getType();
  if (tellsBracket(raw[i]->getStartIndex())) {
    Diagnostic& told = sink.report(diag::syntax_unmatched, range(*raw[i]), spelling(type));
    const std::optional<Loc> lost = type == P::RBRACE && newline ? lostBrace(raw[i]->getStartIndex()) : std::nullopt;
    if (lost)
      told.label({*lost, *lost}, "`{` expected here").fix({*lost, *lost}, " {");
    else
      told.fix(range(*raw[i]), "");
  }
  if (type == P::RBRACE && open.empty()) braceLost = true;
  return false;
}

bool LayoutPass::wrongCloser(std::size_t i, std::size_t wanted) {
  const Open wrong = open.back();
  if (tellsBracket(raw[i]->getStartIndex())) {
    sink.report(diag::syntax_wrong_closer, range(*raw[i]), spelling(wrong.type), spelling(raw[i]->getType()))
        .label(wrong.range, "opened here")
        .fix(range(*raw[i]), spelling(wanted));
  }
  setType(i, wanted);
  open.pop_back();
  return true;
}

bool LayoutPass::closedBody(std::size_t i) {
  closeBrackets(0, "here");
  if (open.empty()) return false;
  if (byIndentation && newline) {
    const int indent = column(raw[i]->getStartIndex());
    std::size_t own = open.size();
    while (own > 0 && open[own - 1].indent != indent) --own;
    if (own > 0 && own < open.size()) closeBodies(own);
    if (own == 0 && open.back().indent < indent) return unmatched(i);
  } else if (byIndentation && open.back().line != lineOf(raw[i]->getStartIndex())) {
    return unmatched(i);
  }
  emitEnd();
  open.pop_back();
  return true;
}

}  // namespace tbem::syntax
