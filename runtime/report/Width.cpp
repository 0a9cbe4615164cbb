// How many columns a text takes on a terminal.
#include "runtime/report/Numbers.h"

#include <algorithm>
#include <iterator>

namespace tbem::report {
namespace {

struct Range {
  char32_t first, last;
};

/// East Asian wide and full-width characters and emoji (EastAsianWidth.txt of Unicode 15: W and F), in order.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},   {0x23F3, 0x23F3},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26F2, 0x26F3},   {0x26F5, 0x26F5},   {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x3247},   {0x3250, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18DFF},
    {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320},
    {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0},
    {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E},
    {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5},
    {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC},
    {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD}};

/// Controls, combining marks, joiners and other format characters take no column.
constexpr Range kNone[] = {
#include "runtime/report/ZeroWidth.inc"
};

template <std::size_t N>
bool within(const Range (&table)[N], char32_t c) {
  const auto at =
      std::upper_bound(std::begin(table), std::end(table), c, [](char32_t value, const Range& r) { return value < r.first; });
  return at != std::begin(table) && c <= std::prev(at)->last;
}

/// The next character of UTF-8; a byte that is none counts as one character.
char32_t next(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  char32_t value = length == 1 ? lead : lead & (0x7F >> length);
  std::size_t used = 1;
  for (; used < length && used < text.size() && (static_cast<unsigned char>(text[used]) & 0xC0) == 0x80; ++used)
    value = (value << 6) | (static_cast<unsigned char>(text[used]) & 0x3F);
  text.remove_prefix(used);
  return used == length && (length > 1 || lead < 0x80) ? value : U'\uFFFD';
}

/// Length of the escape sequence "ESC [ ... letter" at the front, or 0.
std::size_t escape(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  for (std::size_t at = 2; at < text.size(); ++at)
    if (text[at] >= 0x40 && text[at] <= 0x7E) return at + 1;
  return text.size();
}

}  // namespace

std::size_t displayWidth(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    // Most of what is written.
    if (text.front() >= ' ' && text.front() <= '~') {
      ++columns;
      text.remove_prefix(1);
      continue;
    }
    if (const std::size_t length = escape(text); length != 0) {
      text.remove_prefix(length);
      continue;
    }
    const char32_t c = next(text);
    columns += within(kNone, c) ? 0 : within(kWide, c) ? 2 : 1;
  }
  return columns;
}

}  // namespace tbem::report
