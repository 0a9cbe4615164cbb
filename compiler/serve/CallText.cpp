#include "compiler/serve/CallText.h"

#include <algorithm>

namespace tbem::serve {

namespace {
bool inWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
bool isBlank(char c) { return c == ' ' || c == '\t'; }
}  // namespace

std::size_t lineBegin(std::string_view text, std::size_t place) {
  return place == 0 ? 0 : text.rfind('\n', place - 1) + 1;  // npos + 1 is 0
}

std::size_t wordBegin(std::string_view text, std::size_t end) {
  while (end > 0 && inWord(text[end - 1])) --end;
  return end;
}

std::string_view wordBefore(std::string_view text, std::size_t end) {
  while (end > 0 && isBlank(text[end - 1])) --end;
  const std::size_t begin = wordBegin(text, end);
  return text.substr(begin, end - begin);
}

std::size_t openCall(std::string_view text, std::size_t place) {
  constexpr std::size_t kFarthest = 4096;  // bytes: no call is longer
  int depth = 0;
  for (std::size_t at = place; at > 0 && place - at < kFarthest; --at) {
    const char c = text[at - 1];
    if (c == ')' || c == ']' || c == '}') ++depth;
    if (c != '(' && c != '[' && c != '{') continue;
    if (depth == 0) return c == '(' ? at - 1 : std::string_view::npos;
    --depth;
  }
  return std::string_view::npos;
}

std::set<std::string_view> namedArguments(std::string_view arguments) {
  std::set<std::string_view> named;
  int depth = 0;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const char c = arguments[at];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == ':' && depth == 0) named.insert(wordBefore(arguments, at));
  }
  return named;
}

bool isWritten(const Reading& reading, std::size_t place) {
  const std::string_view text = reading.source.text;
  const auto inside = [&](SrcRange range) {
    return range.begin - reading.source.base < place && place <= range.end - reading.source.base;
  };
  if (std::ranges::any_of(reading.workspace.file().comments, inside)) return true;
  const std::size_t margin = lineBegin(text, place);
  return std::ranges::count(text.substr(margin, place - margin), '"') % 2 == 1;
}

}  // namespace tbem::serve
