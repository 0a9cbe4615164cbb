#include "runtime/report/Pictures.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tbem::report {

namespace {

constexpr double kSide = 84, kGap = 4, kBetween = 22, kLine = 15, kMark = 7, kCharacter = 6.2, kTop = 56, kMargin = 16;
constexpr std::size_t kHeadWidth = 30;  // columns of a line of a head that can be broken

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8U | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : kDigits[three >> (18U - 6U * k) & 63U];
  }
  return text;
}

std::string textAt(double x, double y, std::string_view attributes, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes, escapeXml(text));
}

/// A head in lines, broken behind commas.
std::vector<std::string> headLines(std::string_view head) {
  std::vector<std::string> lines(1);
  while (!head.empty()) {
    const std::size_t comma = head.find(", ");
    const std::string_view part = head.substr(0, comma == std::string_view::npos ? comma : comma + 1);
    if (!lines.back().empty() && displayWidth(lines.back()) + 1 + displayWidth(part) > kHeadWidth) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + std::string(part);
    head = comma == std::string_view::npos ? std::string_view() : head.substr(comma + 2);
  }
  return lines;
}

/// Where things of a grid stand.
struct Grid {
  const PictureGrid& grid;
  std::vector<std::vector<std::string>> heads;  ///< of each column, in lines
  std::vector<double> left, width;              ///< of each column
  double top = kTop, right = 0;
  std::size_t lines = 0, marks = 0;  ///< the most of any cell; marks: lines of them

  explicit Grid(const PictureGrid& grid) : grid(grid) {
    double x = kMargin;
    for (const std::string& row : grid.rows) x = std::max(x, kMargin + static_cast<double>(displayWidth(row)) * kCharacter + 12);
    for (std::size_t c = 0; c < grid.columns.size(); ++c) {
      double wide = 0;
      heads.push_back(headLines(grid.columns[c]));
      for (const std::string& line : heads.back()) wide = std::max(wide, static_cast<double>(displayWidth(line)) * kCharacter);
      top = std::max(top, kTop + kLine * static_cast<double>(heads.back().size()));
      for (const auto& row : grid.cells) {
        wide = std::max(wide, static_cast<double>(row[c].images.size()) * (kSide + kGap) - kGap);
        for (const std::string& line : row[c].lines) wide = std::max(wide, static_cast<double>(displayWidth(line)) * kCharacter);
      }
      left.push_back(x);
      width.push_back(wide);
      x += wide + kBetween;
    }
    right = x - kBetween + kMargin;
    for (const auto& row : grid.cells) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        lines = std::max(lines, row[c].lines.size());
        marks = std::max(marks, (row[c].marks.size() + marksOfLine(c) - 1) / marksOfLine(c));
      }
    }
  }

  std::size_t marksOfLine(std::size_t column) const {
    return std::max<std::size_t>(1, static_cast<std::size_t>((width[column] + 2) / (kMark + 2)));
  }
  double height() const { return kSide + kLine * static_cast<double>(lines) + (kMark + 2) * static_cast<double>(marks) + 24; }
};

std::string markAt(double x, double y, std::int8_t mark) {
  if (mark < 0) return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1\" fill=\"#999\"/>\n", x + kMark / 2, y + kMark / 2);
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:g}\" height=\"{:g}\" stroke=\"#0072B2\" fill=\"{}\"/>\n", x + 0.5,
                     y + 0.5, kMark - 1, kMark - 1, mark > 0 ? "#0072B2" : "#fff");
}

std::string cellAt(const Grid& grid, std::size_t column, double y, const Picture& picture) {
  double x = grid.left[column];
  std::string out;
  for (const std::string& png : picture.images) {
    out += fmt::format(
        "<image x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:g}\" height=\"{2:g}\" style=\"image-rendering:pixelated\""
        " href=\"data:image/png;base64,{3}\"/>\n",
        x, y, kSide, base64(png));
    x += kSide + kGap;
  }
  y += kSide + kLine;
  for (const std::string& line : picture.lines) {
    out += textAt(grid.left[column], y, "", line);
    y += kLine;
  }
  y -= kLine - 6;
  const std::size_t ofLine = grid.marksOfLine(column);
  for (std::size_t i = 0; i < picture.marks.size(); ++i)
    out += markAt(grid.left[column] + (kMark + 2) * static_cast<double>(i % ofLine),
                  y + (kMark + 2) * static_cast<double>(i / ofLine), picture.marks[i]);
  return out;
}

}  // namespace

std::string picturesSvg(const PictureGrid& pictures) {
  const Grid grid(pictures);
  const double wide = std::max(grid.right, 2 * kMargin + kCharacter * static_cast<double>(displayWidth(pictures.subtitle)));
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\""
      " font-family=\"Inter, Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"11\" fill=\"#222\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      wide, grid.top + grid.height() * static_cast<double>(pictures.rows.size()), escapeXml(pictures.title));
  out += textAt(kMargin, 24, " font-size=\"15\" font-weight=\"600\"", pictures.title);
  out += textAt(kMargin, 42, " fill=\"#555\"", pictures.subtitle);
  for (std::size_t c = 0; c < pictures.columns.size(); ++c) {
    double y = grid.top + 6 - kLine * static_cast<double>(grid.heads[c].size());
    for (const std::string& line : grid.heads[c]) {
      out += textAt(grid.left[c], y, " font-weight=\"600\"", line);
      y += kLine;
    }
  }
  for (std::size_t r = 0; r < pictures.rows.size(); ++r) {
    const double y = grid.top + grid.height() * static_cast<double>(r);
    out += textAt(kMargin, y + 12, "", pictures.rows[r]);
    for (std::size_t c = 0; c < pictures.columns.size(); ++c) out += cellAt(grid, c, y, pictures.cells[r][c]);
  }
  return out + "</svg>\n";
}

}  // namespace tbem::report
