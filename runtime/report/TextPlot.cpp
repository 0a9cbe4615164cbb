#include "runtime/report/TextPlot.h"

#include "runtime/report/Bars.h"
#include "runtime/report/Numbers.h"

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

/// Points in a field of characters, `across` by `down` points a character.
class Field {
public:
  Field(const TextPlotSize& size) : size(size), across(size.ascii ? 1 : 2), down(size.ascii ? 1 : 4) {
    cells.assign(size.columns * size.lines, 0);
  }
  std::size_t width() const { return size.columns * across; }
  std::size_t height() const { return size.lines * down; }

  /// From the left, from above.
  void set(std::size_t x, std::size_t y) {
    // The bits of a Braille pattern: the left column from above is 1, 2, 4, 64, the right one 8, 16, 32, 128.
    constexpr std::uint8_t kBits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    cells[y / down * size.columns + x / across] |= kBits[y % down][x % across];
  }

  std::string line(std::size_t row) const {
    std::string text;
    for (std::size_t column = 0; column < size.columns; ++column) {
      const std::uint8_t cell = cells[row * size.columns + column];
      if (cell == 0)
        text += ' ';
      else if (size.ascii)
        text += '*';
      else
        text += braille(cell);
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
  }

private:
  static std::string braille(std::uint8_t bits) {
    // U+2800 + bits in UTF-8.
    std::string text = "\xE2";
    text += static_cast<char>(0xA0 | (bits >> 6U));
    text += static_cast<char>(0x80 | (bits & 0x3FU));
    return text;
  }

  TextPlotSize size;
  std::size_t across, down;
  std::vector<std::uint8_t> cells;
};

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
void join(Field& field, Point from, Point to) {
  const auto height = [&](std::size_t x) {
    if (to.x == from.x) return to.y;
    const double share = static_cast<double>(x - from.x) / static_cast<double>(to.x - from.x);
    return static_cast<std::size_t>(std::lround(static_cast<double>(from.y) * (1 - share) + static_cast<double>(to.y) * share));
  };
  std::size_t last = from.y;
  for (std::size_t x = std::min(from.x + 1, to.x); x <= to.x; ++x) {
    const std::size_t y = height(x);
    for (std::size_t step = std::min(last, y); step <= std::max(last, y); ++step) {
      if (step != last || y == last) field.set(x, step);
    }
    last = y;
  }
}

}  // namespace

std::string curve(std::span<const double> numbers, const TextPlotSize& size) {
  const Range range = rangeOf(numbers);
  if (range.finite == 0) return {};
  Field field(size);
  const auto lineOf = [&](double number) { return field.height() - 1 - pointOf(number, range, field.height()); };
  const Range positions = {0, static_cast<double>(numbers.size() - 1), numbers.size()};
  std::optional<Point> last;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) {
      last.reset();
      continue;
    }
    const Point point = {pointOf(static_cast<double>(i), positions, field.width()), lineOf(numbers[i])};
    field.set(point.x, point.y);
    if (last) join(field, *last, point);
    last = point;
  }
  const std::string high = number(range.high), low = number(range.low);
  const std::size_t margin = std::max(high.size(), low.size());
  std::string text;
  for (std::size_t row = 0; row < size.lines; ++row) {
    const std::string label = row == 0 ? high : row + 1 == size.lines ? low : "";
    text += fmt::format("{:>{}} {}{}\n", label, margin, size.ascii ? "|" : "│", field.line(row));
  }
  return text;
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
