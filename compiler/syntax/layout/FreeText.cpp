#include "compiler/syntax/layout/FreeText.h"

#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemParser.h>

#include <algorithm>
#include <string_view>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

class Folder {
public:
  Folder(std::vector<std::unique_ptr<antlr4::Token>>& raw, const Source& source) : raw(raw), source(source) {}

  void run() {
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const antlr4::Token& token = *raw[i];
      if (token.getType() == P::NEWLINE || token.getType() == P::SEMI) begins = begins || depth == 0;
      if (token.getType() == P::NEWLINE || token.getChannel() != 0) continue;
      const std::string_view word = text(token);
      if (begins && word == "process" && following(i) == P::ID) {
        inProcess = true;
        depth = 0;
      } else if (word == "end_process") {
        inProcess = false;
      } else if (inProcess && begins && word == "comment" && !wantsMore(previous) && !isInfix(following(i))) {
        fold(i);
      }
      count(token.getType());
      begins = token.getType() == P::SEMI && depth == 0;
      previous = token.getType();
    }
  }

private:
  std::string_view text(const antlr4::Token& token) const {
    return std::string_view(source.text).substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
  }
  std::size_t following(std::size_t i) const {
    for (++i; i < raw.size(); ++i) {
      if (raw[i]->getType() != P::NEWLINE && raw[i]->getChannel() == 0) return raw[i]->getType();
    }
    return 0;
  }
  void count(std::size_t type) {
    if (type == P::LPAREN || type == P::LBRACK || type == P::LBRACE) ++depth;
    if ((type == P::RPAREN || type == P::RBRACK || type == P::RBRACE) && depth > 0) --depth;
  }
  /// Whether a clause or the end of the process begins at this word, the first of its line or behind a `;`.
  bool endsText(std::string_view word, bool afterSemicolon) const {
    return word == "end_process" || (!afterSemicolon && (word == "ext" || word == "pre" || word == "post"));
  }

  /// Where the text of the `comment` at `i` ends: the token behind it.
  std::size_t endOf(std::size_t i) const {
    bool line = false, semicolon = false;
    for (std::size_t k = i + 1; k < raw.size(); ++k) {
      const std::size_t type = raw[k]->getType();
      if (type == P::NEWLINE) {
        line = true;
        continue;
      }
      if (type == P::ID && (line || semicolon) && endsText(text(*raw[k]), !line)) return k;
      line = false;
      semicolon = type == P::SEMI;
    }
    std::size_t end = i + 1;
    while (end < raw.size() && raw[end]->getType() != P::NEWLINE) ++end;
    return end;
  }

  void fold(std::size_t i) {
    static_cast<antlr4::CommonToken*>(raw[i].get())->setType(P::REMARK);
    const std::size_t end = endOf(i);
    const auto isText = [](const std::unique_ptr<antlr4::Token>& token) {
      return token->getType() != P::NEWLINE && token->getType() != P::SEMI;
    };
    const auto from = raw.begin() + static_cast<std::ptrdiff_t>(i) + 1, to = raw.begin() + static_cast<std::ptrdiff_t>(end);
    const auto first = std::find_if(from, to, isText);
    if (first == to) return;
    auto last = to;
    while (!isText(*(last - 1))) --last;
    auto* whole = static_cast<antlr4::CommonToken*>(first->get());
    whole->setType(P::FREE_TEXT);
    whole->setChannel(0);
    whole->setStopIndex((*(last - 1))->getStopIndex());
    raw.erase(first + 1, last);
  }

  std::vector<std::unique_ptr<antlr4::Token>>& raw;
  const Source& source;
  bool inProcess = false;
  bool begins = true;  ///< a line or a statement begins here
  int depth = 0;       ///< of brackets
  std::size_t previous = 0;
};

}  // namespace

void foldFreeText(std::vector<std::unique_ptr<antlr4::Token>>& raw, const Source& source) { Folder(raw, source).run(); }

}  // namespace tbem::syntax
