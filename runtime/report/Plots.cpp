// The plots that campaigns make.
#include "runtime/report/Svg.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tbem::report {
namespace {

/// Values over more than a decade are shown on logarithmic axes, where equal relative errors look equal.
bool spansDecades(const std::vector<Series>& series) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Series& one : series)
    for (const Point& point : one.points)
      for (const double value : {point.x, point.y, point.left.value_or(point.x), point.right.value_or(point.x)}) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
  return low > 0 && high > 10 * low;
}

}  // namespace

Plot scatterMeasuredPredicted(std::string title, std::string what, Quantity quantity, std::vector<Series> series) {
  Plot plot;
  plot.title = std::move(title);
  const bool logarithmic = spansDecades(series);
  plot.x = {"predicted " + what, quantity, logarithmic, false, {}};
  plot.y = {"measured " + what, quantity, logarithmic, false, {}};
  plot.series = std::move(series);
  plot.lines = false;
  plot.diagonal = true;
  plot.width = 540;
  plot.height = 520;
  return plot;
}

Plot linesByFactor(std::string title, Axis factor, Axis response, std::vector<Series> series) {
  Plot plot;
  plot.title = std::move(title);
  for (Series& one : series) {
    std::stable_sort(one.points.begin(), one.points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
    for (const Point& point : one.points) factor.ticks.push_back(point.x);
  }
  std::sort(factor.ticks.begin(), factor.ticks.end());
  factor.ticks.erase(std::unique(factor.ticks.begin(), factor.ticks.end()), factor.ticks.end());
  if (factor.ticks.size() > 10) factor.ticks.clear();  // no longer levels: a sweep
  plot.x = std::move(factor);
  plot.y = std::move(response);
  plot.series = std::move(series);
  return plot;
}

}  // namespace tbem::report
