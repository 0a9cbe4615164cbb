#include "compiler/support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem {

namespace {

std::string escaped(std::string_view text, std::string_view kept) {
  const auto plain = [&](char c) { return (c >= 0x20 && c < 0x7F) || kept.find(c) != std::string_view::npos; };
  if (std::ranges::all_of(text, plain)) return std::string(text);
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    const bool keep = point.value < 0x20 && kept.find(text[at]) != std::string_view::npos;
    shown += keep ? std::string(1, text[at]) : shownAt(text, at, point);
    at += point.bytes;
  }
  return shown;
}

}  // namespace

CodePoint decode(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0U;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t length = lead >= 0xF0 && lead < 0xF8 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xC0 && lead < 0xE0 ? 2 : 0;
  if (length == 0) return {0xFFFD, 1, false};
  std::uint32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {0xFFFD, 1, false};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {0xFFFD, 1, false};
  return {value, length, true};
}

int columns(std::uint32_t c) {
  struct Span {
    std::uint32_t first, last;
  };
  constexpr Span none[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
  constexpr Span wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
                           {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
                           {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  for (const Span& span : none) {
    if (c >= span.first && c <= span.last) return 0;
  }
  for (const Span& span : wide) {
    if (c >= span.first && c <= span.last) return 2;
  }
  return 1;
}

std::size_t firstNotUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const CodePoint point = decode(text, at);
    if (!point.valid) return at;
    at += point.bytes;
  }
  return std::string_view::npos;
}

bool isControl(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string shownAt(std::string_view text, std::size_t offset, const CodePoint& point) {
  if (!point.valid) return fmt::format("\\x{:02x}", static_cast<unsigned char>(text[offset]));
  if (!isControl(point.value)) return std::string(text.substr(offset, point.bytes));
  switch (point.value) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return point.bytes == 1 ? fmt::format("\\x{:02x}", point.value) : fmt::format("\\u{{{:x}}}", point.value);
  }
}

std::string printable(std::string_view text) { return escaped(text, "\n\t"); }
std::string printableLine(std::string_view text) { return escaped(text, ""); }

}  // namespace tbem
