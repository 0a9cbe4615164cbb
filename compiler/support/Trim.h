// Text without what stands around it.
#pragma once

#include <cstddef>
#include <string_view>

namespace tbem {

/// Without any of these characters at its beginning and its end.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n\f") {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace tbem
