#include "runtime/report/Timeline.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Scale.h"
#include "runtime/report/Xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tbem::report {

namespace {

constexpr double kWidth = 960, kHeight = 460, kLeft = 76, kRight = 188, kTop = 64, kBottom = 40;
/// Okabe & Ito (2008), a grey, and two more that stand out on light and dark paper.
constexpr std::array<std::string_view, 10> kAreas{"#0072B2", "#999999", "#56B4E9", "#CC79A7", "#D55E00",
                                                  "#009E73", "#E69F00", "#F0E442", "#882255", "#A6761D"};

class Drawing {
public:
  explicit Drawing(const Timeline& timeline) : timeline(timeline) {
    std::vector<double> sums{0};
    for (const Timeline::Moment& moment : timeline.moments) sums.push_back(moment.sum());
    scale = scaleFor({"memory", Quantity::Bytes, false, true, {}}, sums, 6);
    highest = static_cast<std::size_t>(std::max_element(sums.begin() + 1, sums.end()) - sums.begin() - 1);
  }

  std::string text() {
    out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\""
        " font-family=\"Inter, Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" "
        "fill=\"#222\">\n<title>{2}</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"16\" y=\"24\" font-size=\"15\" "
        "font-weight=\"600\">{2}</text>\n<text x=\"16\" y=\"42\" fill=\"#555\">{3}</text>\n",
        kWidth, kHeight, escapeXml(timeline.title), escapeXml(timeline.subtitle));
    axis();
    areas();
    phases();
    if (!timeline.moments.empty()) pointing();
    return out + "</svg>\n";
  }

private:
  double x(std::size_t moment) const {
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(moment) /
                       static_cast<double>(std::max<std::size_t>(1, timeline.moments.size()));
  }
  double y(double bytes) const { return kHeight - kBottom - (kHeight - kTop - kBottom) * scale.at(bytes); }

  void axis() {
    for (const Tick& tick : scale.ticks) {
      out += fmt::format(
          "<line x1=\"{0:g}\" y1=\"{2:.1f}\" x2=\"{1:g}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>\n<text x=\"{3:g}\" y=\"{4:.1f}\""
          " text-anchor=\"end\">{5}</text>\n",
          kLeft, kWidth - kRight, y(tick.value), kLeft - 6, y(tick.value) + 4, escapeXml(tick.text));
    }
    out += fmt::format("<text x=\"{:g}\" y=\"{:g}\" fill=\"#555\">{}</text>\n", 16.0, kTop - 8, escapeXml(scale.title));
  }

  void areas() {
    std::vector<double> below(timeline.moments.size(), 0);
    double legend = kHeight - kBottom - 8;
    for (std::size_t kind = 0; kind < timeline.kinds.size(); ++kind) {
      const auto isThere = [kind](const Timeline::Moment& moment) { return moment.bytes[kind] > 0; };
      if (std::none_of(timeline.moments.begin(), timeline.moments.end(), isThere)) continue;
      const std::string_view color = kAreas[kind % kAreas.size()];
      std::string upper, lower;
      for (std::size_t m = 0; m < timeline.moments.size(); ++m) {
        const double top = below[m] + timeline.moments[m].bytes[kind];
        upper += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x(m), y(top), x(m + 1), y(top));
        lower.insert(0, fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x(m + 1), y(below[m]), x(m), y(below[m])));
        below[m] = top;
      }
      out += fmt::format("<polygon points=\"{}{}\" fill=\"{}\"/>\n", upper, lower, color);
      out += fmt::format(
          "<rect x=\"{:g}\" y=\"{:g}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n<text x=\"{:g}\" y=\"{:g}\">{}</text>\n",
          kWidth - kRight + 14, legend - 10, color, kWidth - kRight + 32, legend, escapeXml(timeline.kinds[kind]));
      legend -= 20;
    }
  }

  void phases() {
    for (const Timeline::Phase& phase : timeline.phases) {
      out += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1:g}\" x2=\"{0:.1f}\" y2=\"{2:g}\" stroke=\"#444\" stroke-dasharray=\"3 3\"/>\n"
          "<text x=\"{3:.1f}\" y=\"{4:g}\" fill=\"#555\">{5}</text>\n",
          x(phase.from), kTop, kHeight - kBottom, x(phase.from) + 4, kHeight - kBottom + 18, escapeXml(phase.name));
    }
  }

  void pointing() {
    const Timeline::Moment& peak = timeline.moments[highest];
    const bool left = x(highest) > (kWidth - kRight + kLeft) / 2;
    out += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"3\"/>\n<text x=\"{2:.1f}\" y=\"{3:.1f}\" text-anchor=\"{4}\">{5}</text>\n",
        (x(highest) + x(highest + 1)) / 2, y(peak.sum()), x(highest) + (left ? -6 : 10), std::max(kTop - 2, y(peak.sum()) - 6),
        left ? "end" : "start", escapeXml(fmt::format("{}: {}", bytes(static_cast<std::uint64_t>(peak.sum())), peak.label)));
    for (std::size_t m = 0; m < timeline.moments.size(); ++m) {
      const Timeline::Moment& moment = timeline.moments[m];
      const std::string title = escapeXml(fmt::format("{}: {}", moment.label, bytes(static_cast<std::uint64_t>(moment.sum()))));
      const std::string rect = fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:g}\" width=\"{:.2f}\" height=\"{:g}\" fill-opacity=\"0\"><title>{}</title></rect>", x(m),
          kTop, x(m + 1) - x(m), kHeight - kTop - kBottom, title);
      out += moment.link.empty() ? rect + "\n" : fmt::format("<a href=\"{}\">{}</a>\n", escapeXml(moment.link), rect);
    }
  }

  const Timeline& timeline;
  Scale scale;
  std::size_t highest = 0;
  std::string out;
};

}  // namespace

std::string timelineSvg(const Timeline& timeline) { return Drawing(timeline).text(); }

}  // namespace tbem::report
