// Lines of text files made of fields: what the readers of our own small formats share. Nothing here allocates or throws.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace tbem::runtime {

/// What stands before the first `end`, or all that is left; `text` goes on behind it.
inline std::string_view takeUntil(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

/// The whole field as a number. False where it is none or does not fit; `number` is then as it was.
template <class Number>
bool readNumber(std::string_view field, Number& number) {
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  return error == std::errc() && end == field.data() + field.size();
}

}  // namespace tbem::runtime
