// The plots that campaigns make.
#include "runtime/report/Svg.h"

#include <algorithm>
#include <utility>

namespace tbem::report {

Plot scatterMeasuredPredicted(std::string title, std::string what, Quantity quantity, std::vector<Series> series) {
  Plot plot;
  plot.title = std::move(title);
  plot.x = {"predicted " + what, quantity, false, false, {}};
  plot.y = {"measured " + what, quantity, false, false, {}};
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
  if (factor.ticks.size() > 10) factor.ticks.clear();   // no longer levels: a sweep
  plot.x = std::move(factor);
  plot.y = std::move(response);
  plot.series = std::move(series);
  return plot;
}

}  // namespace tbem::report
