#include "runtime/report/Sixel.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::report {

namespace {
/// `count` times the same character; from four times on a count before it is shorter.
std::string repeated(std::size_t count, char character) {
  return count < 4 ? std::string(count, character) : fmt::format("!{}{}", count, character);
}

std::string bandOf(const Bitmap& bitmap, std::size_t top) {
  std::string text;
  std::size_t run = 0;
  char last = 0;
  for (std::size_t x = 0; x < bitmap.width(); ++x) {
    unsigned bits = 0;
    for (std::size_t row = 0; row < std::min(kSixelBand, bitmap.height() - top); ++row)
      bits |= bitmap.at(x, top + row) ? 1U << row : 0U;
    const char character = static_cast<char>('?' + bits);
    if (run != 0 && character != last) {
      text += repeated(run, last);
      run = 0;
    }
    last = character;
    ++run;
  }
  const bool blank = last == '?';  // the rest of a band need not be said
  return blank ? text : text + repeated(run, last);
}
}  // namespace

std::string sixel(const Bitmap& bitmap) {
  // Points that are not set stay as they are (1); width and height; colour 0 in per cent of red, green and blue: one that shows
  // on dark and on light.
  std::string text = fmt::format("\x1bP0;1q\"1;1;{};{}#0;2;20;55;85", bitmap.width(), bitmap.height());
  for (std::size_t top = 0; top < bitmap.height(); top += kSixelBand) text += (top == 0 ? "" : "-") + bandOf(bitmap, top);
  return text + "\x1b\\";
}

}  // namespace tbem::report
