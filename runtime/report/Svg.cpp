// A plot as an SVG document: title, legend, axes, series.
#include "runtime/report/Svg.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Scale.h"
#include "runtime/report/Xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

namespace tbem::report {
namespace {

/// Okabe & Ito (2008), "Color universal design", without the yellow, which is hard to see on white.
constexpr std::array<std::string_view, 7> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333"};
constexpr std::array<std::string_view, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};  // with 7 colours, 28 lines differ
constexpr double kText = 12, kCharacter = 6.6;  ///< pixels: height and mean width of a character

double widthOf(std::string_view text) { return static_cast<double>(displayWidth(text)) * kCharacter; }

/// Marker number `shape` around (x, y): circle, square, triangle, diamond, cross, triangle on its head.
std::string marker(std::size_t shape, double x, double y, std::string_view color, std::string_view inside) {
  const double r = 4;
  const auto polygon = [&](const std::string& points) {
    return fmt::format("<polygon points=\"{}\" fill=\"{}\">{}</polygon>", points, color, inside);
  };
  switch (shape % 6) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\">{}</circle>", x, y, r, color, inside);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\" fill=\"{}\">{}</rect>", x - 3.5, y - 3.5,
                         color, inside);
    case 2:
      return polygon(fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y - 5, x + 4.6, y + 3.5, x - 4.6, y + 3.5));
    case 3:
      return polygon(
          fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y - 5, x + 5, y, x, y + 5, x - 5, y));
    case 4:
      return fmt::format("<path d=\"M{:.1f},{:.1f}l7,7m0,-7l-7,7\" stroke=\"{}\" stroke-width=\"2\" fill=\"none\">{}</path>",
                         x - 3.5, y - 3.5, color, inside);
    default:
      return polygon(fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y + 5, x + 4.6, y - 3.5, x - 4.6, y - 3.5));
  }
}

bool usable(const Point& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

/// One class: axes, curves and legend share the scales and one text.
class Drawing {
public:
  explicit Drawing(const Plot& from) : plot(from) {}

  std::string draw() {
    placeHeader();
    makeScales();
    open();
    if (points == 0) {
      text(left + (right - left) / 2, (top + bottom) / 2, "middle", "nothing to show: no row has both values", "fill=\"#666\"");
    } else {
      axes();
      if (plot.diagonal) diagonal();
      for (std::size_t i = 0; i < plot.series.size(); ++i) series(i);
    }
    out += "</svg>\n";
    return std::move(out);
  }

private:
  bool hasLegend() const { return plot.series.size() > 1 || (plot.series.size() == 1 && !plot.series[0].name.empty()); }
  bool drawsLines() const { return plot.lines; }

  /// Places of the legend's entries; wraps at the right edge.
  void placeHeader() {
    top = 14 + (plot.title.empty() ? 0 : 18) + (plot.subtitle.empty() ? 0 : 16);
    if (!hasLegend()) {
      top += 6;
      return;
    }
    double x = 16, y = top + 12;
    for (const Series& one : plot.series) {
      const double need = 34 + widthOf(one.name) + 16;
      if (x > 16 && x + need > plot.width - 8) {
        x = 16;
        y += 18;
      }
      legend.push_back({x, y});
      x += need;
    }
    top = y + 16;
  }

  void makeScales() {
    std::vector<double> xs, ys;
    for (const Series& one : plot.series)
      for (const Point& p : one.points) {
        if (!usable(p)) continue;
        ++points;
        xs.push_back(p.x), ys.push_back(p.y);
        for (const auto& end : {p.left, p.right})
          if (end && std::isfinite(*end)) xs.push_back(*end);
        for (const auto& end : {p.low, p.high})
          if (end && std::isfinite(*end)) ys.push_back(*end);
      }
    for (const Series& one : plot.series)
      for (const Point& p : one.curve) {
        if (!usable(p)) continue;
        xs.push_back(p.x), ys.push_back(p.y);
        for (const auto& end : {p.low, p.high})
          if (end && std::isfinite(*end)) ys.push_back(*end);
      }
    if (plot.diagonal) {
      xs.insert(xs.end(), ys.begin(), ys.end());
      ys = xs;
    }
    bottom = plot.height - 48;
    y = scaleFor(plot.y, ys, std::max(2, static_cast<int>((bottom - top) / 44)));
    double widest = 0;
    for (const Tick& tick : y.ticks) widest = std::max(widest, widthOf(tick.text));
    left = widest + 44;
    right = plot.width - 22;
    x = scaleFor(plot.x, xs, std::max(2, static_cast<int>((right - left) / 72)));
  }

  double px(double value) const { return left + x.at(value) * (right - left); }
  double py(double value) const { return bottom - y.at(value) * (bottom - top); }

  void text(double atX, double atY, std::string_view anchor, std::string_view words, std::string_view more = "") {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", atX, atY, anchor, more,
                       escapeXml(words));
  }
  void stroke(double x1, double y1, double x2, double y2, std::string_view look) {
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, look);
  }

  void open() {
    out += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\""
        " font-family=\"Inter, Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"{2:g}\" fill=\"#222\">\n",
        plot.width, plot.height, kText);
    out += fmt::format("<title>{}</title>\n<desc>{} against {}</desc>\n", escapeXml(plot.title), escapeXml(plot.y.label),
                       escapeXml(plot.x.label));
    out += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    double line = 24;
    if (!plot.title.empty()) {
      text(16, line, "start", plot.title, "font-size=\"15\" font-weight=\"600\"");
      line += 17;
    }
    if (!plot.subtitle.empty()) text(16, line, "start", plot.subtitle, "fill=\"#555\"");
    for (std::size_t i = 0; i < legend.size(); ++i) {
      const double middle = legend[i].y - 4;
      if (drawsLines()) stroke(legend[i].x, middle, legend[i].x + 26, middle, lineLook(i));
      if (plot.markers) out += marker(i, legend[i].x + 13, middle, kColors[i % kColors.size()], "") + "\n";
      text(legend[i].x + 32, legend[i].y, "start", plot.series[i].name);
    }
  }

  std::string lineLook(std::size_t i) const {
    const std::string_view dash = kDashes[i % kDashes.size()];
    return fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", kColors[i % kColors.size()],
                       dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
  }

  void axes() {
    for (const Tick& tick : y.ticks) {
      stroke(left, py(tick.value), right, py(tick.value), "stroke=\"#e4e4e4\"");
      text(left - 8, py(tick.value) + 4, "end", tick.text);
    }
    for (const Tick& tick : x.ticks) {
      stroke(px(tick.value), bottom, px(tick.value), bottom + 5, "stroke=\"#444\"");
      text(px(tick.value), bottom + 19, "middle", tick.text);
    }
    stroke(left, bottom, right, bottom, "stroke=\"#444\"");
    stroke(left, top, left, bottom, "stroke=\"#444\"");
    text((left + right) / 2, plot.height - 11, "middle", x.title);
    const double middle = (top + bottom) / 2;
    text(16, middle, "middle", y.title, fmt::format("transform=\"rotate(-90 16 {:.1f})\"", middle));
  }

  void diagonal() {
    const double from = std::max(x.low, y.low), to = std::min(x.high, y.high);
    stroke(px(from), py(from), px(to), py(to), "stroke=\"#888\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"");
    const double slope = std::atan2(py(to) - py(from), px(to) - px(from)) * 180 / 3.14159265358979;
    const double atX = px(to) - 12, atY = py(to) - (py(to) - py(from)) / (px(to) - px(from)) * 12 - 7;
    text(atX, atY, "end", "equal",
         fmt::format("fill=\"#777\" font-size=\"11\" transform=\"rotate({:.1f} {:.1f} {:.1f})\"", slope, atX, atY));
  }

  void whisker(double x1, double y1, double x2, double y2, std::string_view color) {
    const std::string look = fmt::format("stroke=\"{}\" stroke-width=\"1.2\" opacity=\"0.7\"", color);
    stroke(x1, y1, x2, y2, look);
    const double capX = y1 == y2 ? 0 : 3, capY = y1 == y2 ? 3 : 0;
    stroke(x1 - capX, y1 - capY, x1 + capX, y1 + capY, look);
    stroke(x2 - capX, y2 - capY, x2 + capX, y2 + capY, look);
  }

  /// The band between `low` and `high` of a curve, then the curve.
  void curve(std::size_t i) {
    std::string line, above, below;
    for (const Point& p : plot.series[i].curve) {
      if (!usable(p)) continue;
      line += fmt::format("{:.1f},{:.1f} ", px(p.x), py(p.y));
      if (!p.low || !p.high || !std::isfinite(*p.low) || !std::isfinite(*p.high)) continue;
      above += fmt::format("{:.1f},{:.1f} ", px(p.x), py(*p.high));
      below = fmt::format("{:.1f},{:.1f} ", px(p.x), py(*p.low)) + below;
    }
    if (line.empty()) return;
    line.pop_back();
    if (!below.empty()) {
      below.pop_back();
      out += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.13\" stroke=\"none\"/>\n", above, below,
                         kColors[i % kColors.size()]);
    }
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n", line, lineLook(i));
  }

  void series(std::size_t i) {
    const Series& one = plot.series[i];
    const std::string_view color = kColors[i % kColors.size()];
    out += fmt::format("<g data-series=\"{}\">\n", escapeXml(one.name));
    std::string path;
    for (const Point& p : one.points)
      if (usable(p)) path += fmt::format("{:.1f},{:.1f} ", px(p.x), py(p.y));
    curve(i);
    if (drawsLines() && one.curve.empty() && !path.empty()) {
      path.pop_back();
      out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n", path, lineLook(i));
    }
    for (const Point& p : one.points) {
      if (!usable(p)) continue;
      if (p.left && p.right && std::isfinite(*p.left) && std::isfinite(*p.right))
        whisker(px(*p.left), py(p.y), px(*p.right), py(p.y), color);
      if (p.low && p.high && std::isfinite(*p.low) && std::isfinite(*p.high))
        whisker(px(p.x), py(*p.low), px(p.x), py(*p.high), color);
      const std::string hint = p.label.empty() ? "" : fmt::format("<title>{}</title>", escapeXml(p.label));
      if (plot.markers) out += marker(i, px(p.x), py(p.y), color, hint) + "\n";
    }
    out += "</g>\n";
  }

  struct Place {
    double x, y;
  };
  const Plot& plot;
  std::string out;
  std::vector<Place> legend;
  Scale x, y;
  double left = 0, right = 0, top = 0, bottom = 0;
  std::size_t points = 0;
};

}  // namespace

std::string svg(const Plot& plot) { return Drawing(plot).draw(); }

}  // namespace tbem::report
