// UTF-8 as far as printing needs it.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace tbem
