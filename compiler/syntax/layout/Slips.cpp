#include "compiler/syntax/layout/Slips.h"

#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/support/Unicode.h"
#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemLexer.h>
#include <TbemParser.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;
using L = grammar::TbemLexer;

struct Rename {
  std::string_view theirs, ours;
  std::size_t token;
};
constexpr Rename kRenames[] = {
    {"==", "=", P::EQ},      {":=", "=", P::EQ},        {"!=", "<>", P::NE},        {"=<", "<=", P::LE},
    {"&&", "and", P::AND},   {"&", "and", P::AND},      {"||", "or", P::OR},        {"%", "mod", P::MOD},
    {"^", "**", P::POW},     {"!", "not", P::NOT},      {"×", "*", P::STAR},        {"·", "*", P::STAR},
    {"÷", "/", P::SLASH},    {"−", "-", P::MINUS},      {"–", "-", P::MINUS},       {"≤", "<=", P::LE},
    {"≥", ">=", P::GE},      {"≠", "<>", P::NE},        {"→", "->", P::ARROW},      {"∧", "and", P::AND},
    {"∨", "or", P::OR},      {"¬", "not", P::NOT},      {"∀", "forall", P::FORALL}, {"∃", "exists", P::EXISTS},
    {"⇒", "=>", P::IMPLIES}, {"…", "...", P::ELLIPSIS},
};

class Pass {
public:
  Pass(std::vector<std::unique_ptr<antlr4::Token>>& raw, const Source& source, DiagnosticSink& sink)
      : raw(raw), source(source), sink(sink) {}

  void run() {
    splitEquations();
    for (auto& each : raw) {
      antlr4::Token& token = *each;
      if (!visit(static_cast<antlr4::CommonToken&>(token))) {
        each.reset();
        continue;
      }
      if (token.getType() == P::NEWLINE)
        newline = true;
      else if (token.getChannel() == 0) {
        previous = token.getType();
        newline = false;
      }
    }
    raw.erase(std::remove(raw.begin(), raw.end(), nullptr), raw.end());
  }

private:
  std::vector<std::unique_ptr<antlr4::Token>>& raw;
  const Source& source;
  DiagnosticSink& sink;
  std::size_t previous = 0;  ///< type of the last token that is neither a newline nor a comment
  bool newline = true;

  SrcRange range(const antlr4::Token& token) const {
    return {source.base + static_cast<Loc>(token.getStartIndex()), source.base + static_cast<Loc>(token.getStopIndex() + 1)};
  }
  std::string_view text(const antlr4::Token& token) const {
    return std::string_view(source.text).substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
  }

  /// False: the token is dropped.
  bool visit(antlr4::CommonToken& token) {
    switch (token.getType()) {
      case P::SLIP:
        return slip(token);
      case P::SLIP_STRING:
        quotes(token);
        return true;
      case P::HASH:
        hash(token);
        return true;
      case P::OPEN_STRING:
        sink.report(diag::syntax_open_string, range(token)).fix({range(token).end, range(token).end}, "\"");
        token.setType(P::STRING);
        return true;
      case P::OPEN_COMMENT:
        sink.report(diag::syntax_open_comment, {range(token).begin, range(token).begin + 2});
        hide(token);
        return true;
      case P::BAD_BYTES:
        return foreign(token);
      case P::BAD:
        character(token, {});
        return false;
      case P::COMMENT:
        division(token);
        return true;
      case P::PLUS:
        return plus(token);
      default:
        return true;
    }
  }

  /// `at=<north>`, which the lexer takes for one token, is `=` and a member.
  void splitEquations() {
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i]->getType() != P::EQ_ENUMERATOR) continue;
      auto& member = static_cast<antlr4::CommonToken&>(*raw[i]);
      auto equals = std::make_unique<antlr4::CommonToken>(&member);
      equals->setType(P::EQ);
      equals->setStopIndex(member.getStartIndex());
      member.setType(P::ENUMERATOR);
      member.setStartIndex(member.getStartIndex() + 1);
      member.setCharPositionInLine(member.getCharPositionInLine() + 1);
      raw.insert(raw.begin() + static_cast<std::ptrdiff_t>(i++), std::move(equals));
    }
  }

  static void hide(antlr4::CommonToken& token) {
    token.setType(P::COMMENT);
    token.setChannel(antlr4::Token::HIDDEN_CHANNEL);
  }

  const Rename* renameOf(std::string_view word) const {
    const auto* found =
        std::find_if(std::begin(kRenames), std::end(kRenames), [&](const Rename& each) { return each.theirs == word; });
    return found == std::end(kRenames) ? nullptr : found;
  }

  void rename(antlr4::CommonToken& token, const Rename& to) {
    sink.report(diag::syntax_slip, range(token), to.theirs, to.ours)
        .fix(range(token), spaced(token, to.ours), Applicability::Certain);
    token.setType(to.token);
  }

  /// A word in place of a mark needs blanks around it where the mark had none.
  std::string spaced(const antlr4::Token& token, std::string_view word) const {
    const bool isWord = word[0] >= 'a' && word[0] <= 'z';
    const std::size_t begin = token.getStartIndex();
    const std::size_t end = token.getStopIndex() + 1;
    std::string out;
    if (isWord && begin > 0 && source.text[begin - 1] != ' ' && source.text[begin - 1] != '\n' && source.text[begin - 1] != '(')
      out += ' ';
    out += word;
    if (isWord && end < source.text.size() && source.text[end] != ' ' && source.text[end] != '\n') out += ' ';
    return out;
  }

  bool slip(antlr4::CommonToken& token) {
    const std::string_view mark = text(token);
    if (const Rename* to = renameOf(mark)) {
      rename(token, *to);
      return true;
    }
    sink.report(diag::syntax_compound_assignment, range(token), mark, mark.substr(0, 1));
    if (mark == "++" || mark == "--") return false;
    token.setType(P::EQ);
    return true;
  }

  void quotes(antlr4::CommonToken& token) {
    const std::string_view quoted = text(token);
    Diagnostic& told = sink.report(diag::syntax_quotes, range(token));
    if (quoted.find('"') == std::string_view::npos) {
      told.fix(range(token), "\"" + std::string(quoted.substr(1, quoted.size() - 2)) + "\"", Applicability::Certain);
    }
    token.setType(P::STRING);
  }

  void hash(antlr4::CommonToken& token) {
    const Loc begin = range(token).begin;
    sink.report(diag::syntax_hash_comment, {begin, begin + 1}).fix({begin, begin + 1}, "//", Applicability::Certain);
    hide(token);
  }

  bool foreign(antlr4::CommonToken& token) {
    const std::string_view all = text(token);
    if (token.getStartIndex() == 0 && all == "\xEF\xBB\xBF") return false;  // a byte order mark
    if (const Rename* to = renameOf(all)) {
      rename(token, *to);
      return true;
    }
    const CodePoint point = decode(all, 0);
    character(token, point.valid ? std::string(all.substr(0, point.bytes)) : std::string());
    return false;
  }

  void character(antlr4::CommonToken& token, std::string shown) {
    const auto byte = static_cast<unsigned char>(text(token)[0]);
    if (shown.empty())
      shown = byte > 0x20 && byte < 0x7F ? std::string(1, static_cast<char>(byte)) : fmt::format("0x{:02x}", byte);
    Diagnostic& told = sink.report(diag::syntax_character, range(token), shown);
    if (shown == "@") told.note("the product of matrices is `matmul(a, b)`");
  }

  /// `n // 2` is a comment here.
  void division(const antlr4::CommonToken& token) {
    if (newline || !endsOperand(previous)) return;
    // A number, and behind it at most what goes on in the call: `f(n // 2, k: 3)`.
    std::string_view rest = text(token).substr(2);
    const std::size_t first = rest.find_first_not_of(' ');
    if (first == std::string_view::npos) return;
    rest.remove_prefix(first);
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789."), rest.size()));
    const bool number = first + 2 + rest.size() < text(token).size();
    rest.remove_prefix(std::min(rest.find_first_not_of(" \r"), rest.size()));
    if (!number || (!rest.empty() && rest.front() != ',' && rest.front() != ')')) return;
    const SrcRange mark{range(token).begin, range(token).begin + 2};
    sink.report(diag::syntax_division_comment, mark).fix(mark, "div");
  }

  bool plus(const antlr4::CommonToken& token) {
    if (previous == 0 || endsOperand(previous) || !isInfix(previous)) return true;
    sink.report(diag::syntax_unary_plus, range(token)).fix(range(token), "", Applicability::Certain);
    return false;
  }
};
}  // namespace

void renameSlips(std::vector<std::unique_ptr<antlr4::Token>>& raw, const Source& source, DiagnosticSink& sink) {
  Pass(raw, source, sink).run();
}

}  // namespace tbem::syntax
