#include "compiler/show/perturb/PerturbPictures.h"

#include "compiler/support/Bug.h"
#include "runtime/data/Image.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace tbem::driver {

namespace {

/// Numbers of `shape`, [channels, height, width], where `low` is black and `high` is white.
std::string pngOf(std::span<const float> numbers, const std::vector<std::int64_t>& shape, double low, double high) {
  data::Image image{shape[1], shape[2], shape[0], {}};
  const auto area = static_cast<std::size_t>(shape[1] * shape[2]);
  for (std::size_t pixel = 0; pixel < area; ++pixel) {
    for (std::size_t channel = 0; channel < static_cast<std::size_t>(shape[0]); ++channel) {
      const double share = (numbers[channel * area + pixel] - low) / (high - low);
      image.samples.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0))));
    }
  }
  auto png = data::encodePng(image);
  if (!png) TBEM_BUG("an image of a page cannot be encoded: {}", png.error());
  return std::move(*png);
}

/// 1 where the gate went on computing, if only some of the example's places, 0 where it skipped or let the example leave, -1
/// where the example did not come.
std::vector<std::int8_t> marksOf(const std::vector<double>& decisions) {
  std::vector<std::int8_t> marks;
  for (const double decision : decisions) marks.push_back(decision < 0 ? std::int8_t{-1} : decision < 1 ? 1 : 0);
  return marks;
}

std::vector<std::string> linesOf(double flops, std::int64_t prediction) {
  std::vector<std::string> lines = {report::flops(flops)};
  if (prediction >= 0) lines.push_back(fmt::format("predicted {}", prediction));
  return lines;
}

report::Picture pictureOf(const perturb::Plan& plan, const std::vector<std::int64_t>& shape, const std::vector<float>& example,
                          const perturb::Point& point, const std::vector<float>& numbers) {
  std::vector<float> change(numbers.size());
  for (std::size_t i = 0; i < change.size(); ++i) change[i] = numbers[i] - example[i];
  const double most = point.linf > 0 ? point.linf : 1;
  report::Picture picture{{pngOf(numbers, shape, plan.low, plan.high), pngOf(change, shape, -most, most)},
                          linesOf(point.flops, point.after),
                          marksOf(point.decisions)};
  picture.lines.push_back(fmt::format("change up to {}", report::number(point.linf)));
  return picture;
}

}  // namespace

report::PictureGrid picturesOf(const Perturbed& perturbed) {
  const perturb::Plan& plan = perturbed.perturbation->plan;
  const std::vector<std::int64_t>& shape = perturbed.perturbation->about.inputs.front().shape;
  const std::vector<perturb::Series>& series = perturbed.outcome->series;
  report::PictureGrid grid;
  grid.title = fmt::format("{}: examples that were slowed most, and their points", perturbed.perturbation->spec.decl->name.text);
  grid.subtitle =
      "beside a point its change, grey where there is none; squares are gates in program order: full where the network went on "
      "computing, empty where it skipped or the example left, a dot where it did not come";
  grid.columns.emplace_back("example");
  for (const perturb::Series& each : series) grid.columns.push_back(each.text);
  for (const perturb::Pictured& pictured : perturbed.pictured) {
    const perturb::Point& point = series.front().points[pictured.places.front()];
    std::string& name = grid.rows.emplace_back(fmt::format("{}", pictured.example));
    if (point.label >= 0) name += fmt::format(", label {}", point.label);
    std::vector<report::Picture>& row = grid.cells.emplace_back();
    row.push_back({{pngOf(pictured.numbers, shape, plan.low, plan.high)},
                   linesOf(point.flopsBefore, point.before),
                   marksOf(point.decisionsBefore)});
    for (std::size_t m = 0; m < series.size(); ++m)
      row.push_back(pictureOf(plan, shape, pictured.numbers, series[m].points[pictured.places[m]], pictured.points[m]));
  }
  return grid;
}

}  // namespace tbem::driver
