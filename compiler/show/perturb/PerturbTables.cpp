#include "compiler/show/perturb/PerturbTables.h"

#include "compiler/show/perturb/Cells.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

using perturb::Point;
using report::Align;
using report::Cell;

Cell decibels(const std::optional<double>& value) { return value ? fmt::format("{:.2f} dB", *value) : kNothing; }

/// Columns and what stands in them.
template <class Row>
struct Columns {
  std::vector<std::pair<report::Column, std::function<Cell(const Row&)>>> all;

  void add(const char* title, Align align, std::function<Cell(const Row&)> cell) {
    all.push_back({{title, align}, std::move(cell)});
  }
  report::Table table(std::string title, std::span<const Row> rows) const {
    report::Table table;
    table.title = std::move(title);
    for (const auto& [column, cell] : all) table.columns.push_back(column);
    for (const Row& row : rows) {
      std::vector<Cell> cells;
      for (const auto& [column, cell] : all) cells.push_back(cell(row));
      table.add(std::move(cells));
    }
    return table;
  }
};

using MethodColumns = Columns<MethodResult>;

MethodColumns byMethod() {
  MethodColumns columns;
  columns.add("method", Align::Left, [](const MethodResult& result) { return Cell(result.series.text); });
  return columns;
}

MethodColumns costColumns() {
  MethodColumns columns = byMethod();
  columns.add("FLOPs before", Align::Decimal,
              [](const MethodResult& result) { return Cell(report::flops(result.summary.flopsBefore)); });
  columns.add("FLOPs", Align::Decimal, [](const MethodResult& result) { return Cell(report::flops(result.summary.flops)); });
  columns.add("I-FLOPs mean", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.meanIncrease); });
  columns.add("I-FLOPs max", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.mostIncrease); });
  columns.add("head-room", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.headroom); });
  columns.add("examples", Align::Right,
              [](const MethodResult& result) { return Cell(report::grouped(result.summary.examples)); });
  columns.add("raised", Align::Right, [](const MethodResult& result) { return Cell(report::grouped(result.summary.raised)); });
  columns.add("coverage", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.coverage); });
  return columns;
}

MethodColumns changeColumns() {
  MethodColumns columns = byMethod();
  columns.add("accuracy before", Align::Decimal,
              [](const MethodResult& result) { return shareCell(result.summary.accuracyBefore); });
  columns.add("accuracy", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.accuracy); });
  columns.add("predictions kept", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.kept); });
  columns.add("L-inf", Align::Decimal, [](const MethodResult& result) { return Cell(report::number(result.summary.linf)); });
  columns.add("L2", Align::Decimal, [](const MethodResult& result) { return Cell(report::number(result.summary.l2)); });
  columns.add("PSNR", Align::Decimal, [](const MethodResult& result) { return decibels(result.summary.psnr); });
  columns.add("SSIM", Align::Decimal, [](const MethodResult& result) { return coefficientCell(result.summary.ssim); });
  return columns;
}

MethodColumns timeColumns(bool latency) {
  MethodColumns columns = byMethod();
  if (latency) {
    columns.add("I-latency mean", Align::Decimal,
                [](const MethodResult& result) { return shareCell(result.summary.latency.mean); });
    columns.add("I-latency max", Align::Decimal,
                [](const MethodResult& result) { return shareCell(result.summary.latency.most); });
    columns.add("correlation with FLOPs", Align::Decimal,
                [](const MethodResult& result) { return coefficientCell(result.summary.latency.correlation); });
  }
  columns.add("search of an example", Align::Decimal, [](const MethodResult& result) {
    const std::optional<double>& seconds = result.summary.secondsOfExample;
    return Cell(seconds ? report::seconds(*seconds) : kNothing);
  });
  columns.add("learning", Align::Decimal, [](const MethodResult& result) {
    return Cell(result.series.learning > 0 ? report::seconds(result.series.learning) : kNothing);
  });
  return columns;
}

MethodColumns energyColumns() {
  MethodColumns columns = byMethod();
  const auto joules = [](const std::optional<double>& value) { return Cell(value ? report::joules(*value) : kNothing); };
  columns.add("examples", Align::Right,
              [](const MethodResult& result) { return Cell(report::grouped(result.summary.energy.examples)); });
  columns.add("energy before", Align::Decimal,
              [joules](const MethodResult& result) { return joules(result.summary.energy.before); });
  columns.add("energy", Align::Decimal, [joules](const MethodResult& result) { return joules(result.summary.energy.after); });
  columns.add("I-energy mean", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.energy.mean); });
  columns.add("I-energy max", Align::Decimal, [](const MethodResult& result) { return shareCell(result.summary.energy.most); });
  columns.add("correlation with FLOPs", Align::Decimal,
              [](const MethodResult& result) { return coefficientCell(result.summary.energy.correlation); });
  columns.add("battery", Align::Right, [](const MethodResult& result) {
    const std::optional<double> left = batteryLeft(result.summary.energy);
    return Cell(left ? report::grouped(std::llround(*left)) : kNothing);
  });
  return columns;
}

bool hasLatency(const Point& point) { return point.latencyBefore > 0; }
bool hasEnergy(const Point& point) { return point.energyBefore > 0; }

Cell classCell(std::int64_t label) { return label < 0 ? Cell(kNothing) : Cell(std::to_string(label)); }

Columns<Point> pointColumns(bool latency, bool energy) {
  Columns<Point> columns;
  columns.add("example", Align::Right, [](const Point& point) { return Cell(std::to_string(point.example)); });
  columns.add("label", Align::Right, [](const Point& point) { return classCell(point.label); });
  columns.add("predicted before", Align::Right, [](const Point& point) { return classCell(point.before); });
  columns.add("predicted", Align::Right, [](const Point& point) { return classCell(point.after); });
  columns.add("FLOPs before", Align::Decimal, [](const Point& point) { return Cell(report::flops(point.flopsBefore)); });
  columns.add("FLOPs", Align::Decimal, [](const Point& point) { return Cell(report::flops(point.flops)); });
  columns.add("L-inf", Align::Decimal, [](const Point& point) { return Cell(report::number(point.linf)); });
  columns.add("L2", Align::Decimal, [](const Point& point) { return Cell(report::number(point.l2)); });
  columns.add("PSNR", Align::Decimal,
              [](const Point& point) { return std::isfinite(point.psnr) ? decibels(point.psnr) : Cell(kNothing); });
  columns.add("SSIM", Align::Decimal, [](const Point& point) { return coefficientCell(point.ssim); });
  if (latency) {
    columns.add("latency before", Align::Decimal, [](const Point& point) { return Cell(report::seconds(point.latencyBefore)); });
    columns.add("latency", Align::Decimal, [](const Point& point) { return Cell(report::seconds(point.latency)); });
  }
  if (energy) {
    const auto joules = [](double value) { return Cell(value > 0 ? report::joules(value) : kNothing); };
    columns.add("energy before", Align::Decimal, [joules](const Point& point) { return joules(point.energyBefore); });
    columns.add("energy", Align::Decimal, [joules](const Point& point) { return joules(point.energy); });
  }
  return columns;
}

/// In order, the share of numbers that are no larger: two points at each number, so that lines between them make steps.
report::Series shares(std::string name, std::vector<double> numbers) {
  std::ranges::sort(numbers);
  report::Series series{std::move(name), {}};
  const double all = static_cast<double>(numbers.size());
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t behind = first;
    while (behind < numbers.size() && numbers[behind] == numbers[first]) ++behind;
    for (const std::size_t count : {first, behind})
      series.points.push_back({numbers[first], static_cast<double>(count) / all, {}, {}, {}, {}, {}});
    first = behind;
  }
  return series;
}

std::vector<double> costs(const perturb::Series& series, double Point::*cost) {
  std::vector<double> numbers;
  for (const Point& point : series.points) numbers.push_back(point.*cost);
  return numbers;
}

}  // namespace

std::optional<double> batteryLeft(const perturb::Growth& energy) {
  constexpr double kInferences = 10'000;
  if (!energy.before || !energy.after || *energy.after <= 0) return std::nullopt;
  return kInferences * *energy.before / *energy.after;
}

void printMethods(show::Out& out, const std::string& name, std::span<const MethodResult> results) {
  const bool latency =
      std::ranges::any_of(results, [](const MethodResult& result) { return result.summary.latency.mean.has_value(); });
  const bool energy =
      std::ranges::any_of(results, [](const MethodResult& result) { return result.summary.energy.mean.has_value(); });
  out.table(costColumns().table(fmt::format("{}: what an example costs", name), results));
  out.table(changeColumns().table(fmt::format("{}: how examples changed", name), results));
  out.table(timeColumns(latency).table(fmt::format("{}: time", name), results));
  if (energy) out.table(energyColumns().table(fmt::format("{}: energy", name), results));
}

void printPoints(show::Out& out, const std::string& name, const MethodResult& result) {
  const std::vector<Point>& points = result.series.points;
  out.table(pointColumns(std::ranges::any_of(points, hasLatency), std::ranges::any_of(points, hasEnergy))
                .table(fmt::format("{}: points of {}", name, result.series.text), points));
}

std::optional<double> secondsOfBound(const Certified& certified) {
  const std::int64_t computed = std::ssize(certified.certificates) - certified.stored;
  return computed == 0 ? std::nullopt : std::optional(certified.seconds / static_cast<double>(computed));
}

std::string certifiedText(const Certified& certified) {
  const auto examples = static_cast<std::int64_t>(certified.certificates.size());
  if (examples == 0) return "certified: no example\n";
  const std::optional<double> seconds = secondsOfBound(certified);
  std::string text = fmt::format(
      "certified: no point of the ball takes the path that costs most for {} of {} examples; a point costs at most {} in the "
      "mean, and {} was found; {}\n",
      report::grouped(certified.below()), report::grouped(examples), report::flops(certified.meanFlops()),
      report::flops(certified.meanFound()),
      seconds ? fmt::format("{}{} an example",
                            certified.stored == 0 ? "" : fmt::format("{} were in the store; ", report::grouped(certified.stored)),
                            report::seconds(*seconds))
              : std::string("all were in the store"));
  const std::vector<std::string> unsupported = certified.unsupported();
  if (!unsupported.empty())
    text += fmt::format("gates behind `{}` are not bounded: no bounds are known of {}\n", fmt::join(unsupported, "`, `"),
                        unsupported.size() == 1 ? "it" : "these");
  return text;
}

std::string verdictText(std::span<const MethodResult> results) {
  const auto mean = [](const MethodResult& result) { return result.summary.meanIncrease; };
  const auto best = std::ranges::max_element(results, {}, mean);
  if (best == results.end() || best->summary.examples == 0) return {};
  if (mean(*best) <= 0) return "no method makes an example cost more in the mean";
  std::string text = fmt::format("{} slows the network most: an example costs {} more in the mean", best->series.text,
                                 report::percent(mean(*best)));
  if (best->summary.headroom) text += fmt::format(" and takes {} of its head-room", report::percent(*best->summary.headroom));
  const auto random = std::ranges::find(results, "random", [](const MethodResult& result) { return result.series.word; });
  if (random == results.end() || random->summary.examples == 0) return text;
  if (random == best) return text + ", so no method does more than random noise";
  if (mean(*random) <= 0) return text + "; random noise raises nothing in the mean";
  return text + fmt::format("; random noise reaches {} of that increase", report::percent(mean(*random) / mean(*best)));
}

std::string crossoverText(std::span<const MethodResult> results) {
  const MethodResult* single = nullptr;
  for (const MethodResult& result : results) {
    constexpr std::array<std::string_view, 4> kNoSearch{"random", "uniform", "universal", "generator"};
    const bool searches = result.summary.secondsOfExample && std::ranges::find(kNoSearch, result.series.word) == kNoSearch.end();
    if (searches && (single == nullptr || result.summary.meanIncrease > single->summary.meanIncrease)) single = &result;
  }
  std::string text;
  for (const MethodResult& result : results) {
    if (single == nullptr || result.series.learning == 0 || !result.summary.secondsOfExample) continue;
    const double saved = *single->summary.secondsOfExample - *result.summary.secondsOfExample;
    const double equal = saved > 0 ? result.series.learning / saved : std::numeric_limits<double>::infinity();
    constexpr double kNever = 1e12;
    text += equal < kNever
                ? fmt::format("{} takes less time than {} from {} examples on, its learning included\n", result.series.text,
                              single->series.text, report::grouped(static_cast<std::int64_t>(std::floor(equal)) + 1))
                : fmt::format("{} takes as long for an example as {} and more, beside its learning\n", result.series.text,
                              single->series.text);
  }
  return text;
}

report::Plot costCurves(const std::string& name, std::span<const MethodResult> results) {
  report::Plot plot;
  plot.title = fmt::format("FLOPs of an example, {}", name);
  plot.subtitle = "share of examples that cost no more";
  plot.x = {.label = "FLOPs of an example", .quantity = report::Quantity::Flops};
  plot.y = {.label = "share of examples"};
  plot.markers = false;
  const auto size = [](const MethodResult& result) { return result.series.points.size(); };
  const auto longest = std::ranges::max_element(results, {}, size);
  if (longest != results.end()) plot.series.push_back(shares("before", costs(longest->series, &Point::flopsBefore)));
  for (const MethodResult& result : results)
    plot.series.push_back(shares(result.series.text, costs(result.series, &Point::flops)));
  return plot;
}

}  // namespace tbem::driver
