#include "runtime/report/Scale.h"

#include "runtime/report/Numbers.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace tbem::report {
namespace {

struct Unit {
  double size;
  std::string_view name;
};
constexpr Unit kBytes[] = {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}};
constexpr Unit kSeconds[] = {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}};
constexpr Unit kFlops[] = {{1, "FLOP"}, {1e3, "kFLOP"}, {1e6, "MFLOP"}, {1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}};
constexpr Unit kJoules[] = {{1e-6, "µJ"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}, {1e6, "MJ"}};
constexpr Unit kPlain[] = {{1, ""}};

std::span<const Unit> unitsOf(Quantity quantity) {
  switch (quantity) {
    case Quantity::Number:
      return kPlain;
    case Quantity::Bytes:
      return kBytes;
    case Quantity::Seconds:
      return kSeconds;
    case Quantity::Flops:
      return kFlops;
    case Quantity::Joules:
      return kJoules;
  }
  return kPlain;
}

/// The largest unit that the largest value is at least twice of.
Unit unitFor(Quantity quantity, double largest) {
  const auto units = unitsOf(quantity);
  Unit best = units.front();
  for (const Unit& unit : units)
    if (largest >= 2 * unit.size) best = unit;
  return best;
}

std::string titleOf(const Axis& axis, std::string_view unit) {
  return unit.empty() ? axis.label : axis.label + " (" + std::string(unit) + ")";
}

void linearTicks(Scale& scale, const Axis& axis, int most) {
  const Unit unit = unitFor(axis.quantity, std::max(std::fabs(scale.low), std::fabs(scale.high)));
  scale.title = titleOf(axis, unit.name);
  const double step = niceStep(scale.low / unit.size, scale.high / unit.size, most);
  const double first = std::floor(scale.low / unit.size / step + 1e-9), last = std::ceil(scale.high / unit.size / step - 1e-9);
  scale.low = first * step * unit.size;
  scale.high = last * step * unit.size;
  for (double i = first; i <= last; ++i) scale.ticks.push_back({i * step * unit.size, number(i * step, 6)});
}

/// Ticks at the levels of a factor, where no two come nearer than the width of `most` even ticks would allow.
void ticksAt(Scale& scale, const Axis& axis, int most) {
  const Unit unit = unitFor(axis.quantity, std::max(std::fabs(scale.low), std::fabs(scale.high)));
  scale.title = titleOf(axis, unit.name);
  std::vector<double> places = axis.ticks;
  std::sort(places.begin(), places.end());
  for (const double place : places) {
    if (place < scale.low || place > scale.high) continue;
    const bool room = scale.ticks.empty() || (scale.at(place) - scale.at(scale.ticks.back().value)) * 2.5 * most >= 1;
    if (room) scale.ticks.push_back({place, number(place / unit.size, 6)});
  }
}

std::string logText(Quantity quantity, double value) {
  const Unit unit = unitFor(quantity, value * 2);
  const std::string digits = number(value / unit.size, 4);
  return unit.name.empty() ? digits : digits + " " + std::string(unit.name);
}

/// Powers of two for bytes, else of ten with 2 and 5 between where there is room.
void logTicks(Scale& scale, const Axis& axis, int most) {
  scale.title = axis.label;
  const double base = axis.quantity == Quantity::Bytes ? 2 : 10;
  const double first = std::ceil(std::log(scale.low) / std::log(base) - 1e-9),
               last = std::floor(std::log(scale.high) / std::log(base) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first + 1) / most));
  const bool between = base == 10 && (last - first + 1) * 3 <= most;
  const double low = scale.low * (1 - 1e-9), high = scale.high * (1 + 1e-9);
  for (double power = between ? first - 1 : first; power <= last; power += step)
    for (const double times : {1.0, 2.0, 5.0}) {
      const double value = times * std::pow(base, power);
      if ((times == 1 || between) && value >= low && value <= high) scale.ticks.push_back({value, logText(axis.quantity, value)});
    }
}

/// A logarithmic axis over a small range has too few powers on it: round numbers an equal step apart instead.
void evenTicksOnLog(Scale& scale, const Axis& axis, int most) {
  const Unit unit = unitFor(axis.quantity, scale.high);
  const double step = niceStep(scale.low / unit.size, scale.high / unit.size, most);
  scale.ticks.clear();
  for (double i = std::ceil(scale.low / unit.size / step); i * step * unit.size <= scale.high; ++i)
    scale.ticks.push_back({i * step * unit.size, number(i * step, 6) + (unit.name.empty() ? "" : " " + std::string(unit.name))});
}

void widenLog(Scale& scale) {
  const double room = std::max(std::log(scale.high / scale.low) * 0.06, 0.1);
  scale.low *= std::exp(-room);
  scale.high *= std::exp(room);
}

}  // namespace

double Scale::at(double value) const {
  if (logarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

double niceStep(double low, double high, int most) {
  const double rough = (high - low) / std::max(1, most);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= rough * (1 - 1e-9)) return times * power;
  return 10 * power;
}

Scale scaleFor(const Axis& axis, const std::vector<double>& values, int most) {
  Scale scale;
  if (!values.empty()) {
    scale.low = *std::min_element(values.begin(), values.end());
    scale.high = *std::max_element(values.begin(), values.end());
  }
  scale.logarithmic = axis.logarithmic && scale.low > 0 && !values.empty();
  if (scale.logarithmic) {
    widenLog(scale);
    if (axis.ticks.empty())
      logTicks(scale, axis, most);
    else
      ticksAt(scale, axis, most);
    if (axis.ticks.empty() && scale.ticks.size() < 3) evenTicksOnLog(scale, axis, most);
    return scale;
  }
  if (axis.fromZero && scale.low > 0) scale.low = 0;
  if (axis.fromZero && scale.high < 0) scale.high = 0;
  if (scale.low == scale.high) {
    const double room = scale.low == 0 ? 1 : std::fabs(scale.low) * 0.5;
    scale.low -= scale.low == 0 ? 0 : room;
    scale.high += room;
  }
  if (axis.ticks.empty()) {
    linearTicks(scale, axis, most);
  } else {
    const double room = (scale.high - scale.low) * 0.05;
    if (!(axis.fromZero && scale.low == 0)) scale.low -= room;
    scale.high += room;
    ticksAt(scale, axis, most);
  }
  return scale;
}

}  // namespace tbem::report
