#include "runtime/perturb/Summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tbem::perturb {

namespace {

/// A mean of what was added; nothing where nothing was.
class Mean {
public:
  void add(double value) {
    sum += value;
    ++count;
  }
  std::optional<double> value() const { return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt; }
  double orZero() const { return value().value_or(0); }

private:
  double sum = 0;
  std::int64_t count = 0;
};

/// By how much of `before` it became more; nothing of nothing is no share.
std::optional<double> increase(double before, double after) {
  return before > 0 ? std::optional((after - before) / before) : std::nullopt;
}

}  // namespace

/// Of centred sums. Values that are all the same are told by comparison: what their mean rounds is no variance.
std::optional<double> correlation(const std::vector<std::pair<double, double>>& pairs) {
  const auto varies = [&](auto member) {
    return std::ranges::any_of(pairs, [&](const auto& pair) { return pair.*member != pairs.front().*member; });
  };
  if (!varies(&std::pair<double, double>::first) || !varies(&std::pair<double, double>::second)) return std::nullopt;
  Mean meanX, meanY;
  for (const auto& [x, y] : pairs) {
    meanX.add(x);
    meanY.add(y);
  }
  double xx = 0, yy = 0, xy = 0;
  for (const auto& [x, y] : pairs) {
    const double fromX = x - meanX.orZero(), fromY = y - meanY.orZero();
    xx += fromX * fromX;
    yy += fromY * fromY;
    xy += fromX * fromY;
  }
  return xy / std::sqrt(xx * yy);
}

namespace {

void addFlops(const Series& series, const Victim& victim, Summary& summary) {
  Mean increases, headroom, before, after;
  std::optional<double> most;
  for (const Point& point : series.points) {
    before.add(point.flopsBefore);
    after.add(point.flops);
    summary.raised += point.flops > point.flopsBefore ? 1 : 0;
    if (const auto more = increase(point.flopsBefore, point.flops)) {
      increases.add(*more);
      most = std::max(most.value_or(*more), *more);
    }
    // FLOPs of an example are shares of a batch's: what their sums round is no room.
    constexpr double kRounding = 1e-12;
    const double room = victim.most - point.flopsBefore;
    if (room > kRounding * victim.most) headroom.add((point.flops - point.flopsBefore) / room);
  }
  summary.flopsBefore = before.orZero();
  summary.flops = after.orZero();
  summary.meanIncrease = increases.orZero();
  summary.mostIncrease = most.value_or(0);
  summary.headroom = headroom.value();
}

void addPredictions(const Series& series, Summary& summary) {
  Mean before, after, kept;
  for (const Point& point : series.points) {
    kept.add(point.before == point.after ? 1 : 0);
    if (point.label < 0) continue;
    before.add(point.before == point.label ? 1 : 0);
    after.add(point.after == point.label ? 1 : 0);
  }
  summary.accuracyBefore = before.value();
  summary.accuracy = after.value();
  summary.kept = kept.value();
}

void addQuality(const Series& series, Summary& summary) {
  Mean linf, l2, psnr, ssim;
  for (const Point& point : series.points) {
    linf.add(point.linf);
    l2.add(point.l2);
    if (point.linf == 0) continue;
    psnr.add(point.psnr);
    if (point.ssim) ssim.add(*point.ssim);
  }
  summary.linf = linf.orZero();
  summary.l2 = l2.orZero();
  summary.psnr = psnr.value();
  summary.ssim = ssim.value();
}

Growth growthOf(const Series& series, double Point::*before, double Point::*after) {
  Growth growth;
  Mean costsBefore, costs, increases;
  std::vector<std::pair<double, double>> pairs;
  for (const Point& point : series.points) {
    const auto more = increase(point.*before, point.*after);
    if (!more) continue;  // it was not measured
    ++growth.examples;
    costsBefore.add(point.*before);
    costs.add(point.*after);
    increases.add(*more);
    growth.most = std::max(growth.most.value_or(*more), *more);
    pairs.emplace_back(point.flopsBefore, point.*before);
    pairs.emplace_back(point.flops, point.*after);
  }
  growth.before = costsBefore.value();
  growth.after = costs.value();
  growth.mean = increases.value();
  growth.correlation = correlation(pairs);
  return growth;
}

double coverageOf(const Series& series) {
  Sides sides;
  for (const Point& point : series.points) addSides(point.decisions, sides);
  return series.gates.empty() ? 0 : static_cast<double>(sides.size()) / static_cast<double>(2 * series.gates.size());
}

}  // namespace

void addSides(const std::vector<double>& decisions, Sides& sides) {
  for (std::size_t gate = 0; gate < decisions.size(); ++gate) {
    if (decisions[gate] > 0) sides.emplace(gate, true);
    if (decisions[gate] >= 0 && decisions[gate] < 1) sides.emplace(gate, false);
  }
}

Summary summarise(const Series& series, const Victim& victim) {
  Summary summary;
  summary.examples = std::ssize(series.points);
  addFlops(series, victim, summary);
  if (victim.classAxis) addPredictions(series, summary);
  addQuality(series, summary);
  summary.latency = growthOf(series, &Point::latencyBefore, &Point::latency);
  summary.energy = growthOf(series, &Point::energyBefore, &Point::energy);
  summary.coverage = coverageOf(series);
  const std::int64_t moved = summary.examples - series.stored;
  if (moved > 0) summary.secondsOfExample = series.moving / static_cast<double>(moved);
  return summary;
}

}  // namespace tbem::perturb
