// Where a parser stands among tokens, and what all parts of the grammar read.
#pragma once

#include "test/card/ptx/Failure.h"
#include "test/card/ptx/Module.h"
#include "test/card/ptx/Token.h"

#include <string>
#include <vector>

namespace tbem::card {

class Cursor {
public:
  explicit Cursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ < tokens_.size() - 1 ? at_++ : at_]; }
  unsigned line() const { return peek().line; }
  bool ended() const { return peek().kind == Token::Kind::End; }

  bool isMark(char letter, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Mark && peek(ahead).text[0] == letter;
  }
  bool isWord(std::string_view text) const { return peek().kind == Token::Kind::Word && peek().text == text; }
  bool takeMark(char letter) { return isMark(letter) && (take(), true); }
  bool takeWord(std::string_view text) { return isWord(text) && (take(), true); }

  [[noreturn]] void fail(const std::string& expected) const {
    throw PtxFailure(line(), "expected " + expected + ", found `" + std::string(peek().text) + "`");
  }
  void expectMark(char letter) {
    if (!takeMark(letter)) fail(std::string("`") + letter + "`");
  }
  std::string expectName(const char* what) {
    if (peek().kind != Token::Kind::Word || peek().text[0] == '.') fail(what);
    return std::string(take().text);
  }
  std::uint64_t expectInteger() {
    if (peek().kind != Token::Kind::Integer) fail("a whole number");
    return take().value;
  }
  /// With a sign before it.
  std::uint64_t expectSigned() {
    if (takeMark('-')) return 0 - expectInteger();
    takeMark('+');
    return expectInteger();
  }
  Type expectType() {
    const std::string_view text = peek().text;
    const auto type = peek().kind == Token::Kind::Word && text[0] == '.' ? typeOf(text.substr(1)) : std::nullopt;
    if (!type) fail("a type");
    take();
    return *type;
  }

private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

/// `.align 8 .b8 name[16] = {..}` behind its state space; without the `;`, `,` or `)` behind it.
Variable parseVariable(Cursor& cursor, Space space, bool external);

/// From `{` to `}`.
void parseBody(Cursor& cursor, FunctionText& function);

}  // namespace tbem::card
