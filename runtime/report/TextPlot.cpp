#include "runtime/report/TextPlot.h"

#include "runtime/report/Bars.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Sixel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::report {

namespace {

struct Range {
  double low = 0, high = 0;
  std::size_t finite = 0;
};

Range rangeOf(std::span<const double> numbers) {
  Range range;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    range.low = range.finite == 0 ? number : std::min(range.low, number);
    range.high = range.finite == 0 ? number : std::max(range.high, number);
    ++range.finite;
  }
  return range;
}

/// Points a character, beside and above each other.
struct Grain {
  std::size_t across = 1, down = 1;
};

std::string braille(std::uint8_t bits) {
  // U+2800 + bits in UTF-8.
  std::string text = "\xE2";
  text += static_cast<char>(0xA0 | (bits >> 6U));
  text += static_cast<char>(0x80 | (bits & 0x3FU));
  return text;
}

/// A line of characters for the points that lie in it.
std::string lineOf(const Bitmap& bitmap, std::size_t line, Grain grain) {
  // The bits of a Braille pattern: the left column from above is 1, 2, 4, 64, the right one 8, 16, 32, 128.
  constexpr std::uint8_t kBits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
  std::string text;
  for (std::size_t left = 0; left < bitmap.width(); left += grain.across) {
    std::uint8_t cell = 0;
    for (std::size_t y = 0; y < grain.down; ++y) {
      for (std::size_t x = 0; x < grain.across; ++x) cell |= bitmap.at(left + x, line * grain.down + y) ? kBits[y][x] : 0;
    }
    if (cell == 0)
      text += ' ';
    else
      text += grain.across == 1 ? "*" : braille(cell);
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

/// The point, of `count` from 0, at which a number of a range lies.
std::size_t pointOf(double number, const Range& range, std::size_t count) {
  if (range.high == range.low) return count / 2;
  // Halves: the difference of two numbers may be beyond f64.
  const double share = (number / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
  return std::min(count - 1, static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1))));
}

struct Point {
  std::size_t x = 0, y = 0;
};

/// The straight line between two points, the first of them left out: at each place across, from where it enters to where it
/// leaves.
void join(Bitmap& bitmap, Point from, Point to) {
  const auto height = [&](std::size_t x) {
    if (to.x == from.x) return to.y;
    const double share = static_cast<double>(x - from.x) / static_cast<double>(to.x - from.x);
    return static_cast<std::size_t>(std::lround(static_cast<double>(from.y) * (1 - share) + static_cast<double>(to.y) * share));
  };
  std::size_t last = from.y;
  for (std::size_t x = std::min(from.x + 1, to.x); x <= to.x; ++x) {
    const std::size_t y = height(x);
    for (std::size_t step = std::min(last, y); step <= std::max(last, y); ++step) {
      if (step != last || y == last) bitmap.set(x, step);
    }
    last = y;
  }
}

void drawCurve(Bitmap& bitmap, std::span<const double> numbers, const Range& range) {
  const Range positions = {0, static_cast<double>(numbers.size() - 1), numbers.size()};
  std::optional<Point> last;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      last.reset();
      continue;
    }
    const Point point = {pointOf(static_cast<double>(i), positions, bitmap.width()),
                         bitmap.height() - 1 - pointOf(numbers[i], range, bitmap.height())};
    bitmap.set(point.x, point.y);
    if (last) join(bitmap, *last, point);
    last = point;
  }
}

/// Each point made two pixels wide and high, as far as there is room: one alone is hard to see.
Bitmap thick(const Bitmap& thin) {
  Bitmap bitmap(thin.width(), thin.height());
  for (std::size_t y = 0; y < thin.height(); ++y) {
    for (std::size_t x = 0; x < thin.width(); ++x) {
      if (!thin.at(x, y)) continue;
      for (const std::size_t below : {y, std::min(y + 1, thin.height() - 1)}) {
        for (const std::size_t beside : {x, std::min(x + 1, thin.width() - 1)}) bitmap.set(beside, below);
      }
    }
  }
  return bitmap;
}

/// A line a label for the least and the largest number, and what lies in each line of the field.
struct LabelledAxis {
  std::string high, low;
  std::size_t margin;
  const char* rule;

  LabelledAxis(const Range& range, bool ascii)
      : high(number(range.high)), low(number(range.low)), margin(std::max(high.size(), low.size())), rule(ascii ? "|" : "│") {}
  /// Columns before the field.
  std::size_t width() const { return margin + 2; }
  std::string line(std::size_t line, std::size_t lines, const std::string& field) const {
    return fmt::format("{:>{}} {}{}\n", line == 0 ? high : line + 1 == lines ? low : "", margin, rule, field);
  }
};

}  // namespace

std::string curve(std::span<const double> numbers, const TextPlotSize& size) {
  const Range range = rangeOf(numbers);
  if (range.finite == 0) return {};
  const Grain grain = size.ascii ? Grain{} : Grain{2, 4};
  Bitmap bitmap(size.columns * grain.across, size.lines * grain.down);
  drawCurve(bitmap, numbers, range);
  const LabelledAxis axis(range, size.ascii);
  std::string text;
  for (std::size_t line = 0; line < size.lines; ++line) text += axis.line(line, size.lines, lineOf(bitmap, line, grain));
  return text;
}

PicturedCurve picturedCurve(std::span<const double> numbers, const TextPlotSize& size, CellSize cell) {
  constexpr const char *kKeep = "\x1b\x37", *kBack = "\x1b\x38";  // the cursor's place (DECSC, DECRC)
  const Range range = rangeOf(numbers);
  if (range.finite == 0) return {};
  // A picture whose height is no multiple of a band would reach into the line below.
  const std::size_t bands = std::max(size.lines * cell.height / kSixelBand, std::size_t{1});
  Bitmap bitmap(size.columns * cell.width, bands * kSixelBand);
  drawCurve(bitmap, numbers, range);
  const LabelledAxis axis(range, size.ascii);
  PicturedCurve result;
  for (std::size_t line = 0; line < size.lines; ++line) result.axis += axis.line(line, size.lines, "");
  result.picture = fmt::format("{}\x1b[{}A\x1b[{}C{}{}", kKeep, size.lines, axis.width(), sixel(thick(bitmap)), kBack);
  return result;
}

std::string histogram(std::span<const double> numbers, const TextPlotSize& size) {
  if (numbers.empty()) return {};
  const Range range = rangeOf(numbers);
  std::vector<std::size_t> counts(range.high == range.low ? 1 : size.lines, 0);
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    const double share = counts.size() == 1 ? 0 : (number / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
    ++counts[std::min(counts.size() - 1, static_cast<std::size_t>(share * static_cast<double>(counts.size())))];
  }
  const std::size_t most = *std::ranges::max_element(counts);
  const auto bound = [&](std::size_t part) {
    const double share = static_cast<double>(part) / static_cast<double>(counts.size());
    return number(range.low * (1 - share) + range.high * share, 3);
  };
  std::size_t margin = 0;
  for (std::size_t part = 0; part < counts.size(); ++part) margin = std::max(margin, bound(part).size());
  std::string text;
  for (std::size_t part = 0; range.finite != 0 && part < counts.size(); ++part) {
    const double share = most == 0 ? 0 : static_cast<double>(counts[part]) / static_cast<double>(most);
    text += fmt::format("{:>{}} {}{} {}\n", bound(part), margin, size.ascii ? "|" : "│", bar(share, size.columns, size.ascii),
                        counts[part]);
  }
  if (range.finite != numbers.size()) text += fmt::format("{} not finite\n", numbers.size() - range.finite);
  return text;
}

}  // namespace tbem::report
