// Plots: that what is drawn lies where the axes say, and that the file is well-formed.
#include "runtime/report/Scale.h"
#include "runtime/report/Svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

namespace tbem::report {
namespace {

/// Tags are balanced, attributes quoted, and no bare & or < stands in text. Enough of XML for what we write.
bool wellFormed(const std::string& text) {
  std::vector<std::string> open;
  std::size_t at = 0;
  static const std::regex tag(R"re(^<(/?)([a-zA-Z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*) ?(/?)>)re");
  static const std::regex entity("^&(amp|lt|gt|quot);");
  while (at < text.size()) {
    std::smatch match;
    const std::string rest = text.substr(at, 4000);
    if (text[at] == '&' && !std::regex_search(rest, entity)) return false;
    if (text[at] != '<') {
      ++at;
      continue;
    }
    if (!std::regex_search(rest, match, tag)) return false;
    if (match[1].length() != 0) {
      if (open.empty() || open.back() != match[2]) return false;
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2]);
    }
    at += static_cast<std::size_t>(match.length());
  }
  return open.empty();
}

struct Mark {
  double place;
  std::string text;
};

/// The tick labels along one axis: right-aligned ones are y's, those in the middle with a y below the axis x's.
std::vector<Mark> labels(const std::string& text, const std::string& anchor) {
  std::vector<Mark> found;
  const std::regex label("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"" + anchor + "\" >([^<]*)</text>");
  for (std::sregex_iterator it(text.begin(), text.end(), label), end; it != end; ++it)
    found.push_back({std::stod((*it)[anchor == "end" ? 2 : 1]), (*it)[3]});
  return found;
}

std::vector<std::pair<double, double>> circles(const std::string& text) {
  std::vector<std::pair<double, double>> found;
  const std::regex circle("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  for (std::sregex_iterator it(text.begin(), text.end(), circle), end; it != end; ++it)
    found.emplace_back(std::stod((*it)[1]), std::stod((*it)[2]));
  return found;
}

/// Where a value lies on an axis, from two of its labels.
double between(const Mark& a, const Mark& b, double value) {
  return a.place + (value - std::stod(a.text)) / (std::stod(b.text) - std::stod(a.text)) * (b.place - a.place);
}

TEST(Svg, DrawsPointsWhereTheAxesSay) {
  constexpr double kMiB = 1048576;
  Plot plot = linesByFactor("memory", {"depth"}, {"peak memory", Quantity::Bytes},
                            {{"", {{16, 300 * kMiB}, {2, 40 * kMiB}, {8, 170 * kMiB}}}});
  const std::string text = svg(plot);
  const auto xs = labels(text, "middle"), ys = labels(text, "end");
  ASSERT_GE(xs.size(), 3u);
  ASSERT_GE(ys.size(), 3u);
  const auto points = circles(text);
  ASSERT_EQ(points.size(), 3u);  // sorted by depth
  const std::vector<std::pair<double, double>> values = {{2, 40}, {8, 170}, {16, 300}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(points[i].first, between(xs.front(), xs[1], values[i].first), 0.3);
    EXPECT_NEAR(points[i].second, between(ys.front(), ys.back(), values[i].second) - 4,
                0.3);  // a label's foot is 4 px below its line
  }
  EXPECT_NE(text.find(">peak memory (MiB)</text>"), std::string::npos);
  EXPECT_TRUE(wellFormed(text));
}

TEST(Svg, TheDiagonalGoesThroughEqualValues) {
  Plot plot = scatterMeasuredPredicted("t", "latency", Quantity::Number, {{"", {{1, 1}, {3, 3}, {5, 4.5}}}});
  const std::string text = svg(plot);
  std::smatch line;
  ASSERT_TRUE(std::regex_search(
      text, line, std::regex("<line x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" y2=\"([0-9.]+)\" stroke=\"#888\"")));
  const double slope = (std::stod(line[4]) - std::stod(line[2])) / (std::stod(line[3]) - std::stod(line[1]));
  const auto points = circles(text);
  ASSERT_EQ(points.size(), 3u);
  const auto onLine = [&](std::size_t i) { return std::stod(line[2]) + slope * (points[i].first - std::stod(line[1])); };
  EXPECT_NEAR(points[0].second, onLine(0), 0.3);
  EXPECT_NEAR(points[1].second, onLine(1), 0.3);
  EXPECT_GT(points[2].second, onLine(2) + 5);  // measured below predicted lies below the line; y grows downwards
}

TEST(Svg, IntervalsAreDrawn) {
  const auto lines = [](const Plot& plot) {
    std::size_t n = 0;
    const std::string t = svg(plot);
    for (std::size_t at = 0; (at = t.find("opacity=\"0.7\"", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  Plot plot = scatterMeasuredPredicted("t", "x", Quantity::Number, {{"", {{1, 1, {}, {}, 0.5, 1.5}, {2, 2}}}});
  EXPECT_EQ(lines(plot), 3u);  // one line with two ends
  plot.series[0].points[1].low = 1.5;
  plot.series[0].points[1].high = std::numeric_limits<double>::infinity();
  EXPECT_EQ(lines(plot), 3u);  // an interval without an end is none
}

TEST(Svg, ACurveTakesThePlaceOfTheLineAndHasItsBand) {
  Plot plot = linesByFactor("t", {"x"}, {"y"}, {{"", {{1, 1}, {2, 3}, {3, 2}}}});
  const auto count = [&](const char* element) {
    const std::string text = svg(plot);
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(element, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  EXPECT_EQ(count("<polyline"), 1u);
  EXPECT_EQ(count("<polygon"), 0u);
  plot.series[0].curve = {{1, 1.5}, {3, 2.5}};
  EXPECT_EQ(count("<polyline"), 1u) << "the curve alone";
  EXPECT_EQ(count("<polygon"), 0u) << "no interval, no band";
  for (Point& point : plot.series[0].curve) {
    point.low = point.y - 40;
    point.high = point.y + 40;
  }
  EXPECT_EQ(count("<polygon"), 1u);
  EXPECT_EQ(circles(svg(plot)).size(), 3u) << "the data stay";
  EXPECT_NE(svg(plot).find(">40<"), std::string::npos) << "the axis has room for the band";
  EXPECT_TRUE(wellFormed(svg(plot)));
}

TEST(Svg, EscapesWhatPeopleWrite) {
  Plot plot = linesByFactor("a < b & \"c\" \x01\n", {"x<y"}, {"y>x"},
                            {{"<s>", {{1, 1, {}, {}, {}, {}, "row & <1>"}}}, {"two", {{2, 2}}}});
  const std::string text = svg(plot);
  EXPECT_TRUE(wellFormed(text)) << text;
  EXPECT_EQ(text.find('\x01'), std::string::npos);
  EXPECT_NE(text.find("row &amp; &lt;1&gt;"), std::string::npos);
  // What XML does not have, what a terminal would obey, and bytes of no encoding are written out (XML 1.0, production 2).
  const std::string odd = svg(linesByFactor("a\uFFFEb\uFFFFc\u009b\u202e\xff", {"x"}, {"y"}, {{"s", {{1, 1}}}}));
  EXPECT_NE(odd.find("a\\u{fffe}b\\u{ffff}c\\u{9b}\\u{202e}\\xff"), std::string::npos) << odd;
  EXPECT_FALSE(wellFormed(text + "<g>"));  // the check itself can fail
  EXPECT_FALSE(wellFormed("<a b=c></a>"));
}

TEST(Svg, LeavesOutWhatIsNotFinite) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::string text = svg(linesByFactor("t", {"x"}, {"y"}, {{"", {{1, nan}, {2, inf}, {3, 5}, {nan, 1}}}}));
  EXPECT_EQ(circles(text).size(), 1u);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  EXPECT_NE(svg(linesByFactor("t", {"x"}, {"y"}, {{"", {{1, nan}}}})).find("nothing to show"), std::string::npos);
}

TEST(Svg, TellsSeriesApartByMoreThanColour) {
  std::vector<Series> series;
  for (int i = 0; i < 8; ++i) series.push_back({"s" + std::to_string(i), {{1.0, 1.0 + i}, {2.0, 2.0 + i}}});
  const std::string text = svg(linesByFactor("t", {"x"}, {"y"}, series));
  std::vector<std::string> looks;
  const std::regex polyline("<polyline [^>]*stroke-linejoin=\"round\" ([^/]*)/>");
  for (std::sregex_iterator it(text.begin(), text.end(), polyline), end; it != end; ++it) looks.push_back((*it)[1]);
  ASSERT_EQ(looks.size(), 8u);
  std::sort(looks.begin(), looks.end());
  EXPECT_EQ(std::unique(looks.begin(), looks.end()), looks.end());
  EXPECT_EQ(text.find("<script"), std::string::npos);
  EXPECT_EQ(text.find("href"), std::string::npos);
}

TEST(Scale, StepsAreOneTwoOrFiveAndFew) {
  EXPECT_DOUBLE_EQ(niceStep(0, 10, 5), 2);
  EXPECT_DOUBLE_EQ(niceStep(0, 100, 4), 50);
  EXPECT_DOUBLE_EQ(niceStep(0, 0.07, 7), 0.01);
  for (double high = 1e-12; high < 1e15; high *= 3.7)
    for (int most = 2; most < 12; ++most) {
      const double step = niceStep(0, high, most);
      const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
      EXPECT_TRUE(std::fabs(mantissa - 1) < 1e-9 || std::fabs(mantissa - 2) < 1e-9 || std::fabs(mantissa - 5) < 1e-9 ||
                  std::fabs(mantissa - 10) < 1e-8)
          << mantissa;
      EXPECT_LE(high / step, most * (1 + 1e-9));
      EXPECT_GT(high / step, most / 2.6 - 1);
    }
}

TEST(Scale, CoversItsValuesAndHasTicks) {
  for (const bool logarithmic : {false, true})
    for (const auto quantity : {Quantity::Number, Quantity::Bytes, Quantity::Seconds, Quantity::Flops, Quantity::Joules})
      for (const auto& values : std::vector<std::vector<double>>{
               {1, 2, 3}, {5e8, 5.1e8}, {1e-6, 1e6}, {7}, {0}, {0.02}, {70e6, 100e6}, {-3, 4}, {-2, -1}}) {
        const Scale scale = scaleFor({"x", quantity, logarithmic}, values, 6);
        for (const double value : values) {
          EXPECT_GE(scale.at(value), -1e-9);
          EXPECT_LE(scale.at(value), 1 + 1e-9);
        }
        EXPECT_GE(scale.ticks.size(), 2u) << values[0] << " " << logarithmic << " " << static_cast<int>(quantity);
        EXPECT_LE(scale.ticks.size(), 9u);
        for (std::size_t i = 0; i < scale.ticks.size(); ++i) {
          EXPECT_GE(scale.at(scale.ticks[i].value), -1e-6);
          EXPECT_LE(scale.at(scale.ticks[i].value), 1 + 1e-6);
          if (i > 0) {
            EXPECT_NE(scale.ticks[i].text, scale.ticks[i - 1].text);
          }
        }
      }
}

TEST(Scale, BytesAreInPowersOfTwoOnALogarithmicAxis) {
  const Scale scale = scaleFor({"memory", Quantity::Bytes, true}, {60e6, 1.2e9}, 6);
  std::vector<std::string> texts;
  for (const Tick& tick : scale.ticks) texts.push_back(tick.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"64 MiB", "128 MiB", "256 MiB", "512 MiB", "1 GiB"}));
}

}  // namespace
}  // namespace tbem::report
