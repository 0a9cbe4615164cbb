#include "compiler/repl/console/Words.h"

#include <fmt/format.h>

namespace tbem::repl {

tl::expected<std::vector<std::string>, std::string> splitWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\'' || c == '"') {
      const std::size_t end = line.find(c, at + 1);
      if (end == std::string_view::npos) return tl::unexpected(fmt::format("the quote {} is not closed", c));
      word += line.substr(at + 1, end - at - 1);
      begun = true;
      at = end;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (begun) words.push_back(word);
      word.clear();
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  if (begun) words.push_back(word);
  return words;
}

std::size_t beginOfOptions(std::string_view line) {
  int open = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') {
      const std::size_t end = line.find('"', at + 1);
      if (end == std::string_view::npos) return end;
      at = end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++open;
    if (c == ')' || c == ']' || c == '}') --open;
    const bool begins = at == 0 || line[at - 1] == ' ';
    if (open <= 0 && begins && line.substr(at, 2) == "--") return at;
  }
  return std::string_view::npos;
}

}  // namespace tbem::repl
