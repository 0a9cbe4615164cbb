#include "runtime/report/Bars.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tbem::report {

std::string bar(double fraction, std::size_t width, bool ascii) {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(fraction > 0)) return {};
  const double columns = std::min(fraction, 1.0) * static_cast<double>(width);
  if (ascii) return std::string(std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(columns))), '#');
  const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(columns * 8)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

namespace {
constexpr double kLine = 22, kHead = 44, kCharacter = 6.6, kBars = 360;
}

std::string barsSvg(const std::string& title, const std::vector<BarGroup>& groups) {
  double labels = 60, height = 44;
  for (const BarGroup& group : groups) {
    height += kHead + kLine * static_cast<double>(group.bars.size()) + 10;
    for (const BarGroup::Bar& one : group.bars)
      labels = std::max(labels, static_cast<double>(displayWidth(one.label)) * kCharacter);
  }
  const double left = labels + 28, width = left + kBars + 110;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\""
      " font-family=\"Inter, Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"16\" y=\"24\" font-size=\"15\" "
      "font-weight=\"600\">{2}</text>\n",
      std::ceil(width), std::ceil(height), escapeXml(title));
  double y = 44;
  for (const BarGroup& group : groups) {
    out += fmt::format(
        "<text x=\"16\" y=\"{:g}\" font-weight=\"600\">{}</text>\n<text x=\"16\" y=\"{:g}\" fill=\"#555\">{}</text>\n", y + 14,
        escapeXml(group.title), y + 30, escapeXml(group.subtitle));
    y += kHead;
    for (const BarGroup::Bar& one : group.bars) {
      const auto rect = [&](double fraction, const char* color) {
        out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"14\" fill=\"{}\"/>\n", left, y,
                           std::clamp(fraction, 0.0, 1.0) * kBars, color);
      };
      if (one.second > one.fraction) rect(one.second, "#A6CBE3");
      rect(one.fraction, one.faint ? "#999999" : "#0072B2");
      const double end = left + std::clamp(std::max(one.fraction, one.second), 0.0, 1.0) * kBars;
      out += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\"{}>{}</text>\n<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
          left - 8, y + 11, one.faint ? " fill=\"#777\"" : "", escapeXml(one.label), end + 6, y + 11, escapeXml(one.text));
      y += kLine;
    }
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#444\"/>\n", left,
                       y - kLine * static_cast<double>(group.bars.size()) - 3, y - 5);
    y += 10;
  }
  return out + "</svg>\n";
}

}  // namespace tbem::report
