// Small plots as SVG: text as text, no scripts, no fonts or links from elsewhere.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::report {

/// What an axis counts: how its ticks are chosen and written. Bytes and seconds take the unit that suits the largest value.
enum class Quantity : std::uint8_t { Number, Bytes, Seconds, Flops, Joules };

struct Axis {
  std::string label;  ///< without the unit
  Quantity quantity = Quantity::Number;
  bool logarithmic = false;   ///< needs positive values only; else the axis is linear
  bool fromZero = true;       ///< a linear axis begins at 0 where all values are positive
  std::vector<double> ticks;  ///< where ticks stand if there is room (the levels of a factor); empty: at round numbers
};
struct Point {
  double x = 0, y = 0;
  std::optional<double> low, high;    ///< an interval of y, drawn upright
  std::optional<double> left, right;  ///< an interval of x, drawn level
  std::string label;                  ///< shown when pointed at
};
struct Series {
  std::string name;
  std::vector<Point> points;  ///< in order along the line; points that are not finite are left out
  /// A fitted curve in order along x, drawn in place of the line through the points; `low` and `high` bound a band around it.
  std::vector<Point> curve = {};
};
struct Plot {
  std::string title, subtitle;
  Axis x, y;
  std::vector<Series> series;
  bool lines = true, markers = true;
  bool diagonal = false;             ///< draws y = x and gives both axes one range
  double width = 640, height = 440;  ///< CSS pixels
};

/// The plot as a whole SVG document. Colours: Okabe & Ito (2008), told apart by marker and dash as well. No points: says so.
std::string svg(const Plot& plot);

/// Measured (y) against predicted (x), with the diagonal on which they would be equal; a point's `left` and `right` are the
/// prediction's interval. `what` names the response ("peak memory"); one series for each backend, say. Logarithmic where the
/// values are positive and span more than a decade.
Plot scatterMeasuredPredicted(std::string title, std::string what, Quantity quantity, std::vector<Series> series);

/// A response against a factor, one line for each level of another one: the TBEM paper's Figure 2 is memory against depth, a
/// line a width. `series` are named by level ("width = 64"); points are sorted along x.
Plot linesByFactor(std::string title, Axis factor, Axis response, std::vector<Series> series);

/// Writes a file as files::writeFile does (runtime/files/Write.h), and makes its folder where it is missing. Errors: the path,
/// errno's text, the way out.
tl::expected<void, std::string> writeAtomically(const std::string& path, const std::string& text);

}  // namespace tbem::report
