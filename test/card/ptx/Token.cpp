#include "test/card/ptx/Token.h"

#include "test/card/ptx/Failure.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <string>

namespace tbem::card {
namespace {

bool startsWord(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$' || letter == '%';
}

bool insideWord(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '$'; }

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    for (skipBlanks(); at_ < text_.size(); skipBlanks()) tokens.push_back(next());
    tokens.push_back({Token::Kind::End, {}, 0, line_});
    return tokens;
  }

private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skipBlanks() {
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_);
        if (end == std::string_view::npos) throw PtxFailure(line_, "a comment has no end");
        for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n';
      } else if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        line_ += text_[at_++] == '\n';
      } else {
        return;
      }
    }
  }

  Token next() {
    const std::size_t from = at_;
    const char first = peek();
    if (startsWord(first) || (first == '.' && startsWord(peek(1)))) return word(from);
    if (std::isdigit(static_cast<unsigned char>(first))) return number(from);
    if (first == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) throw PtxFailure(line_, "a string has no end");
      at_ = end + 1;
      return {Token::Kind::String, text_.substr(from + 1, end - from - 1), 0, line_};
    }
    ++at_;
    return {Token::Kind::Mark, text_.substr(from, 1), 0, line_};
  }

  Token word(std::size_t from) {
    ++at_;
    while (true) {
      if (insideWord(peek()) || (peek() == '.' && insideWord(peek(1)))) {
        ++at_;
      } else if (peek() == ':' && peek(1) == ':') {
        at_ += 2;
      } else {
        break;
      }
    }
    return {Token::Kind::Word, text_.substr(from, at_ - from), 0, line_};
  }

  Token number(std::size_t from) {
    const char letter = peek() == '0' ? static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1)))) : '\0';
    if (letter == 'f') return digits(from, 2, 16, Token::Kind::Real32);
    if (letter == 'd') return digits(from, 2, 16, Token::Kind::Real64);
    if (letter == 'x') return digits(from, 2, 16, Token::Kind::Integer);
    if (letter == 'b') return digits(from, 2, 2, Token::Kind::Integer);
    std::size_t end = at_;
    while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end]))) ++end;
    if (end < text_.size() && (text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E')) return decimal(from);
    return peek() == '0' && end - at_ > 1 ? digits(from, 1, 8, Token::Kind::Integer) : digits(from, 0, 10, Token::Kind::Integer);
  }

  Token digits(std::size_t from, std::size_t prefix, int base, Token::Kind kind) {
    std::uint64_t value = 0;
    const char* start = text_.data() + from + prefix;
    const auto [end, error] = std::from_chars(start, text_.data() + text_.size(), value, base);
    const auto length = static_cast<std::size_t>(end - start);
    const bool whole = kind == Token::Kind::Integer || length == (kind == Token::Kind::Real32 ? 8U : 16U);
    at_ = from + prefix + length;
    if (kind == Token::Kind::Integer && peek() == 'U') ++at_;
    if (error != std::errc() || !whole || insideWord(peek()))
      throw PtxFailure(line_, "`" + std::string(text_.substr(from, at_ - from + 1)) + "` is no number");
    return {kind, text_.substr(from, at_ - from), value, line_};
  }

  Token decimal(std::size_t from) {
    double value = 0;
    const char* start = text_.data() + from;
    const auto [end, error] = std::from_chars(start, text_.data() + text_.size(), value);
    at_ = from + static_cast<std::size_t>(end - start);
    if (error != std::errc() || insideWord(peek()))
      throw PtxFailure(line_, "`" + std::string(text_.substr(from, at_ - from)) + "` is no number");
    return {Token::Kind::Real64, text_.substr(from, at_ - from), std::bit_cast<std::uint64_t>(value), line_};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
};

}  // namespace

std::vector<Token> tokensOf(std::string_view text) { return Lexer(text).all(); }

}  // namespace tbem::card
