// What tests ask of texts.
#pragma once

#include <cstddef>
#include <string_view>

namespace tbem::test {

/// How often the text stands in another.
inline std::size_t timesIn(std::string_view whole, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = whole.find(text); at != std::string_view::npos; at = whole.find(text, at + 1)) ++count;
  return count;
}

}  // namespace tbem::test
