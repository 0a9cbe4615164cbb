// UTF-8 as far as printing needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbem {

struct CodePoint {
  std::uint32_t value = 0;  ///< U+FFFD where the bytes are not UTF-8
  std::size_t bytes = 1;    ///< 1 for a byte that begins nothing
  bool valid = true;
};

/// The code point that begins at `offset`, which lies in the text.
CodePoint decode(std::string_view text, std::size_t offset);
/// Columns that it takes on a terminal: 0, 1 or 2 (East Asian wide and emoji).
int columns(std::uint32_t codePoint);

/// The offset of the first byte that is not UTF-8, or npos.
std::size_t firstNotUtf8(std::string_view text);
/// Whether a terminal obeys it in place of showing it: C0 and C1 controls, DEL, and what overrides the direction of the text
/// behind it (U+202A to U+202E, U+2066 to U+2069).
bool isControl(std::uint32_t codePoint);
/// The code point that begins at `offset` as it may be shown: itself; a control as `\x1b` or `\u{202e}`; a byte that is not UTF-8
/// as `\xff`.
std::string shownAt(std::string_view text, std::size_t offset, const CodePoint& point);
/// The text so, but for line ends and tabs.
std::string printable(std::string_view text);
/// The same as one line: line ends and tabs are `\n`, `\r` and `\t`.
std::string printableLine(std::string_view text);

}  // namespace tbem
