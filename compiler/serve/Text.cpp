#include "compiler/serve/Text.h"

#include <algorithm>
#include <utility>

namespace tbem::serve {

namespace {

/// Bytes of the character with which a text begins; a byte that begins none counts as a character.
std::size_t bytesOf(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  const std::size_t bytes = byte < 0xC0U ? 1 : byte < 0xE0U ? 2 : byte < 0xF0U ? 3 : byte < 0xF8U ? 4 : 1;
  if (bytes > text.size()) return 1;
  const auto follows = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  return std::ranges::all_of(text.substr(1, bytes - 1), follows) ? bytes : 1;
}

std::uint32_t unitsOf(std::size_t bytes, Encoding encoding) {
  switch (encoding) {
    case Encoding::Utf8:
      return static_cast<std::uint32_t>(bytes);
    case Encoding::Utf16:
      return bytes == 4 ? 2 : 1;
    case Encoding::Utf32:
      return 1;
  }
  return 1;
}

}  // namespace

Text::Text(std::string text, Encoding encoding) : text(std::move(text)), encoding(encoding) { findLines(); }

void Text::findLines() {
  starts.assign(1, 0);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if ((text[at] == '\n' || text[at] == '\r') && !pair) starts.push_back(at + 1);
  }
}

std::string_view Text::lineAt(std::size_t line) const {
  const std::size_t end = line + 1 < starts.size() ? starts[line + 1] : text.size();
  std::string_view found = std::string_view(text).substr(starts[line], end - starts[line]);
  while (!found.empty() && (found.back() == '\n' || found.back() == '\r')) found.remove_suffix(1);
  return found;
}

std::size_t Text::offset(Position position) const {
  if (position.line >= starts.size()) return text.size();
  const std::string_view line = lineAt(position.line);
  std::size_t at = 0;
  for (std::uint32_t units = 0; at < line.size();) {
    const std::size_t bytes = bytesOf(line.substr(at));
    units += unitsOf(bytes, encoding);
    if (units > position.character) break;
    at += bytes;
  }
  return starts[position.line] + at;
}

Position Text::position(std::size_t offset) const {
  offset = std::min(offset, text.size());
  const auto behind = std::upper_bound(starts.begin(), starts.end(), offset);
  const auto line = static_cast<std::size_t>(behind - starts.begin()) - 1;
  const std::string_view before = lineAt(line).substr(0, offset - starts[line]);
  std::uint32_t units = 0;
  for (std::size_t at = 0; at < before.size();) {
    const std::size_t bytes = bytesOf(before.substr(at));
    units += unitsOf(bytes, encoding);
    at += bytes;
  }
  return {static_cast<std::uint32_t>(line), units};
}

void Text::replace(Span where, std::string_view with) {
  const std::size_t begin = offset(where.begin), end = std::max(begin, offset(where.end));
  text.replace(begin, end - begin, with);
  findLines();
}

}  // namespace tbem::serve
