#include "compiler/support/Unicode.h"

namespace tbem {

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

}  // namespace tbem
