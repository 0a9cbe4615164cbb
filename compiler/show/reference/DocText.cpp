#include "compiler/show/reference/DocText.h"

#include <cctype>

namespace tbem::driver {

const char* kindOf(const ast::Decl& decl) {
  switch (decl.kind) {
    case ast::NodeKind::Function:
      return "function";
    case ast::NodeKind::Process:
      return "process";
    case ast::NodeKind::Constant:
      return "constant";
    case ast::NodeKind::Callable:
      switch (ast::cast<ast::Callable>(decl).callable) {
        case ast::CallableKind::Operator:
          return "operator";
        case ast::CallableKind::Block:
          return "block";
        case ast::CallableKind::Network:
          return "network";
        case ast::CallableKind::Dataset:
          return "dataset";
      }
      return "";
    case ast::NodeKind::Design:
      return "design";
    case ast::NodeKind::Regress:
      return "regression";
    case ast::NodeKind::Train:
      return "training";
    case ast::NodeKind::Dataset:
      return "dataset";
    default:
      return "declaration";
  }
}

std::string signature(const Session& session, const ast::Callable& callable) {
  const std::string_view text = session.sources.text(callable.range);
  std::string line;
  const std::string word = std::string(kindOf(callable)) + " ";
  std::size_t at = text.find(word);
  int depth = 0;
  const auto clause = [&](std::size_t i) {
    for (const char* word : {"pre ", "post ", "weight ", "buffer ", "native ", "elementwise ", "updates ", "requires ", "{"}) {
      if (text.substr(i).starts_with(word)) return true;
    }
    return false;
  };
  for (at += word.size(); at < text.size(); ++at) {
    const char c = text[at];
    if (depth == 0 && (line.ends_with(' ') || line.ends_with(')')) && clause(at)) break;
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    const bool blank = c == ' ' || c == '\n';
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string firstSentence(const ast::Decl& decl) { return firstSentence(std::string_view(decl.documentation)); }

std::string firstSentence(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    line += text[i] == '\n' ? ' ' : text[i];
    // "et al. 2017" goes on: a sentence begins with a capital letter or a name.
    const bool blank = i + 2 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\n');
    const unsigned char next = blank ? static_cast<unsigned char>(text[i + 2]) : '\0';
    if (text[i] == '.' && (next == '`' || std::isupper(next) != 0)) break;
  }
  return line;
}

}  // namespace tbem::driver
