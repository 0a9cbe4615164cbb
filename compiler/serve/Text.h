// The text of a document in an editor, and places in it as an editor counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::serve {

/// Both from 0. Lines end in "\n", "\r\n" or "\r"; what a character is, the Encoding says.
struct Position {
  std::uint32_t line = 0, character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};
struct Span {
  Position begin, end;
  friend bool operator==(const Span&, const Span&) = default;
};

enum class Encoding : std::uint8_t {
  Utf8,   ///< bytes
  Utf16,  ///< code units of UTF-16, as the protocol has it where nothing else was agreed
  Utf32   ///< code points
};

class Text {
public:
  explicit Text(std::string text = {}, Encoding encoding = Encoding::Utf16);

  const std::string& all() const { return text; }
  /// In bytes. A place beyond the end of its line, or of the text, is that end; one inside a character is its beginning.
  std::size_t offset(Position position) const;
  Position position(std::size_t offset) const;
  Span span(std::size_t begin, std::size_t end) const { return {position(begin), position(end)}; }
  void replace(Span where, std::string_view with);

private:
  void findLines();
  /// Bytes of the line without its end.
  std::string_view lineAt(std::size_t line) const;

  std::string text;
  Encoding encoding;
  std::vector<std::size_t> starts;  ///< of lines, in bytes
};

}  // namespace tbem::serve
