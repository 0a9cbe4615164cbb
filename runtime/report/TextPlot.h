// Plots in a terminal, of characters; a curve also of pixels where the terminal has them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tbem::report {

struct TextPlotSize {
  std::size_t columns = 60, lines = 10;  ///< of the field in which the curve is drawn, without the axis
  bool ascii = false;                    ///< no characters but those of ASCII
};

/// Numbers over their positions as a curve: in Braille patterns (Unicode 2800 to 28FF), of which each has two points beside and
/// four above each other, else of `*`. The axis has the least and the largest number. Numbers that are not finite are left out.
/// "" where there are none.
std::string curve(std::span<const double> numbers, const TextPlotSize& size);

/// A character's place, in pixels.
struct CellSize {
  std::size_t width = 0, height = 0;
};

struct PicturedCurve {
  std::string axis;     ///< lines of text; "" without finite numbers
  std::string picture;  ///< sixel graphics, written behind the axis: they go beside it, and the cursor stays where it was
};

/// The same curve in pixels, for a terminal that shows sixel graphics.
PicturedCurve picturedCurve(std::span<const double> numbers, const TextPlotSize& size, CellSize cell);

/// How many of the numbers lie in each of `size.lines` equal parts of their range, a bar a line. The last part has its upper
/// bound. Numbers that are not finite are counted in a line of their own. "" without numbers.
std::string histogram(std::span<const double> numbers, const TextPlotSize& size);

}  // namespace tbem::report
