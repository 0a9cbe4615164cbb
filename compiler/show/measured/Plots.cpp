// The plots of a program: measured against predicted, and memory by factor (the TBEM paper's Figure 2).
#include "compiler/show/measured/Plots.h"

#include "compiler/experiment/Observations.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/experiment/Regressions.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/MeasureReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>

namespace tbem::driver {

namespace {

constexpr std::size_t kMostOfName = 80;  // a file's name has 255 bytes at most, for a regression's name, the factor and this

/// "cpu", "cpu-tune-on", "cpu-tune-within-10", "pytorch-compile-true", "cpu-over-fashion.test-by-t": of a file's name.
std::string fileWord(const Place& place) {
  std::string word;
  for (const char c : place.text()) {
    const bool isPlain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (isPlain)
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  }
  while (word.ends_with('-')) word.pop_back();
  if (word.size() <= kMostOfName) return word;
  return word.substr(0, kMostOfName) + "-" + jit::hashKey(word).substr(0, 8);
}

report::Plot measuredAgainstPredicted(const Fitted& fitted) {
  report::Series series{fitted.place.backend, {}};
  const std::vector<design::Factor> factors = fitted.plan->run->factors();
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
    report::Point point;
    point.x = fitted.result->fitted[i];
    point.y = fitted.responses[i];
    point.label = fitted.plan->run->levelsText(fitted.rows[i]);
    const auto prediction = regress::predict(*fitted.result, design::pointOf(factors, fitted.plan->run->rows[fitted.rows[i]]));
    if (prediction && prediction->interval) {
      point.left = prediction->interval->low;
      point.right = prediction->interval->high;
    }
    series.points.push_back(std::move(point));
  }
  return report::scatterMeasuredPredicted(
      fmt::format("{} of {} on {}", fitted.plan->decl->name.text, fitted.plan->run->spec.name, fitted.place.text()),
      fitted.plan->response, fitted.plan->quantity, {series});
}

/// The factors that a plot of memory shows: along x, and one line each. `depth` and `width` as in the paper where they are there,
/// else the first two numeric ones.
struct Axes {
  std::optional<std::size_t> x, lines;
};
bool isNumeric(const design::Factor& factor) { return factor.numeric() && !factor.nested && factor.values.size() > 1; }
Axes axesOf(const DesignRun& run) {
  const std::vector<design::Factor> factors = run.factors();
  Axes axes;
  const auto numeric = [&](std::size_t f) { return isNumeric(factors[f]); };
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].name == "depth" && numeric(f)) axes.x = f;
  }
  for (std::size_t f = 0; f < factors.size() && !axes.x; ++f) {
    if (numeric(f)) axes.x = f;
  }
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (f != axes.x && factors[f].name == "width" && !factors[f].nested) axes.lines = f;
  }
  for (std::size_t f = 0; f < factors.size() && !axes.lines; ++f) {
    if (f != axes.x && !factors[f].nested) axes.lines = f;
  }
  return axes;
}

/// The regression of this design's peak memory at this place, or nullptr.
const Fitted* memoryFit(const std::vector<Fitted>& fits, const DesignRun& run, const Place& place) {
  const auto fit = std::find_if(fits.begin(), fits.end(), [&](const Fitted& fitted) {
    return fitted.plan->run == &run && fitted.place == place && fitted.plan->response == "memory_peak" && fitted.result;
  });
  return fit == fits.end() ? nullptr : &*fit;
}

/// The fitted values between the least and the largest level along x, of a design without further factors; `levels`: of a row on
/// the line.
std::vector<report::Point> fittedCurve(const Fitted& fitted, const Axes& axes, const LevelIndices& levels) {
  constexpr int kParts = 48;
  const std::vector<design::Factor> factors = fitted.plan->run->factors();
  const std::vector<double>& values = factors[*axes.x].values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  design::Point at = design::pointOf(factors, levels);
  std::vector<report::Point> curve;
  for (int part = 0; part <= kParts; ++part) {
    const double x = *least + (*most - *least) * part / kParts;
    at.at(*axes.x) = x;
    const auto prediction = regress::predict(*fitted.result, at);
    if (!prediction) return {};
    report::Point point;
    point.x = x;
    point.y = prediction->value;
    if (prediction->interval) {
      point.low = prediction->interval->low;
      point.high = prediction->interval->high;
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

std::optional<report::Plot> memoryByFactor(const DesignRun& run, const std::vector<CaseRow>& rows, const Place& place,
                                           const StoredRows& stored, const Fitted* fitted) {
  const Axes axes = axesOf(run);
  if (!axes.x) return std::nullopt;
  const std::vector<design::Factor> factors = run.factors();
  std::map<std::size_t, report::Series> lines;
  for (const Observation& observation : observationsOf(run, place, rows, stored)) {
    const CaseRow& row = *observation.row;
    const std::optional<double> memory = medianOf(observation.repeats, &runtime::Measurement::memoryPeak);
    if (!memory) continue;
    const LevelIndices& levels = run.rows[row.row];
    const std::size_t line = axes.lines ? levels[*axes.lines] : 0;
    report::Series& series = lines[line];
    if (axes.lines) series.name = fmt::format("{} = {}", factors[*axes.lines].name, factors[*axes.lines].labels[line]);
    if (fitted != nullptr && factors.size() <= 2 && series.curve.empty()) series.curve = fittedCurve(*fitted, axes, levels);
    report::Point point;
    point.x = factors[*axes.x].values[levels[*axes.x]];
    point.y = *memory;
    point.label = run.levelsText(row.row);
    series.points.push_back(std::move(point));
  }
  if (lines.empty()) return std::nullopt;
  std::vector<report::Series> series;
  for (auto& [line, one] : lines) series.push_back(std::move(one));
  report::Plot plot = report::linesByFactor(fmt::format("peak memory of {} on {}", run.spec.name, place.text()),
                                            {factors[*axes.x].name, report::Quantity::Number, false, false},
                                            {"peak memory", report::Quantity::Bytes}, std::move(series));
  if (std::any_of(plot.series.begin(), plot.series.end(), [](const report::Series& line) { return !line.curve.empty(); }))
    plot.subtitle = "curves: as fitted, with the interval of 95 % of new rows";
  // With further factors a line would join rows that differ in those too: markers alone are honest.
  if (factors.size() > 2) {
    plot.lines = false;
    plot.subtitle = "rows differ in the other factors too; point at a marker for its levels";
  }
  return plot;
}

/// A response at all places that it was fitted at: its mean over the rows of each level of a factor, a line a place. In an
/// orthogonal array these means differ by the factor's own effect.
report::Plot placesByFactor(const std::vector<const Fitted*>& places, const design::Factor& factor, std::size_t number) {
  const RegressionPlan& plan = *places.front()->plan;
  std::vector<report::Series> series;
  for (const Fitted* const fitted : places) {
    std::map<std::size_t, std::vector<double>> byLevel;
    for (std::size_t i = 0; i < fitted->rows.size(); ++i)
      byLevel[plan.run->rows[fitted->rows[i]][number]].push_back(fitted->responses[i]);
    report::Series line{fitted->place.text(), {}};
    for (const auto& [level, responses] : byLevel) {
      report::Point point;
      point.x = factor.values[level];
      point.y = std::accumulate(responses.begin(), responses.end(), 0.0) / static_cast<double>(responses.size());
      point.label = fmt::format("{}={}, mean of {}", factor.name, factor.labels[level], responses.size());
      line.points.push_back(std::move(point));
    }
    series.push_back(std::move(line));
  }
  report::Plot plot = report::linesByFactor(fmt::format("{} of {} by {}", plan.decl->name.text, plan.run->spec.name, factor.name),
                                            {factor.name, report::Quantity::Number, false, false}, {plan.response, plan.quantity},
                                            std::move(series));
  plot.subtitle = "means over the rows of each level";
  return plot;
}

/// Of each regression that was fitted at several places, a plot for each factor that is a number.
void addPlaces(std::vector<show::PlotFile>& plots, const std::vector<Fitted>& fits) {
  std::map<const RegressionPlan*, std::vector<const Fitted*>> byPlan;
  std::vector<const RegressionPlan*> inOrder;
  for (const Fitted& fitted : fits) {
    std::vector<const Fitted*>& places = byPlan[fitted.plan];
    if (places.empty()) inOrder.push_back(fitted.plan);
    places.push_back(&fitted);
  }
  for (const RegressionPlan* const plan : inOrder) {
    const std::vector<const Fitted*>& places = byPlan[plan];
    if (places.size() < 2) continue;
    const std::vector<design::Factor> factors = plan->run->factors();
    for (std::size_t f = 0; f < factors.size(); ++f)
      if (isNumeric(factors[f]))
        plots.push_back({fmt::format("{}-by-{}.svg", plan->decl->name.text, factors[f].name),
                         report::svg(placesByFactor(places, factors[f], f))});
  }
}

}  // namespace

bool writePlots(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                const std::vector<Fitted>& fits, const StoredRows& stored, const std::string& folder) {
  if (folder.empty()) return true;
  std::vector<show::PlotFile> plots;
  const auto add = [&](std::string name, const report::Plot& plot) { plots.push_back({std::move(name), report::svg(plot)}); };
  for (const Fitted& fitted : fits)
    add(fmt::format("{}-{}.svg", fitted.plan->decl->name.text, fileWord(fitted.place)), measuredAgainstPredicted(fitted));
  addPlaces(plots, fits);
  std::set<const DesignRun*> drawn;
  for (const MeasurePlan& plan : plans) {
    if (!drawn.insert(plan.run).second) continue;  // another `measure` of the same design
    for (const Place& place : placesOf(*plan.run, rows)) {
      if (const auto plot = memoryByFactor(*plan.run, rows, place, stored, memoryFit(fits, *plan.run, place)))
        add(fmt::format("{}-memory-{}.svg", plan.run->spec.name, fileWord(place)), *plot);
    }
  }
  return out.plots(folder, plots);
}

}  // namespace tbem::driver
