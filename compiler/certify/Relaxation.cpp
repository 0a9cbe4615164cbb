#include "compiler/certify/Relaxation.h"

#include <cmath>
#include <optional>

namespace tbem::certify {

using graph::ElemOp;

Relaxation::Relaxation(std::size_t count, bool ofTwo)
    : lowA(count),
      lowB(ofTwo ? count : 0),
      lowShift(count),
      highA(count),
      highB(ofTwo ? count : 0),
      highShift(count),
      slack(count) {}

void Relaxation::takeIn(const Box& b) {
  for (std::size_t i = 0; i < lowB.size(); ++i) {
    lowShift[i] += lowB[i] * (lowB[i] >= 0 ? b.low[i] : b.high[i]);
    highShift[i] += highB[i] * (highB[i] >= 0 ? b.high[i] : b.low[i]);
  }
  lowB.clear();
  highB.clear();
}

namespace {

/// What carrying a form back through `parts`, the magnitudes of its terms together, loses in f64.
double lostBack(double parts, const Losses& losses) { return (losses.fanOut + 8) * kUnit * parts; }

void forget(Relaxation& lines, std::size_t i) {
  lines.lowShift[i] = -kInfinity;
  lines.highShift[i] = kInfinity;
}

struct Slopes {
  double low = 0, lowShift = 0, high = 0, highShift = 0;  ///< of max(d, 0) or min(d, 0)
};

Slopes slopesOfRelu(Interval d) {
  if (d.low >= 0) return {1, 0, 1, 0};
  if (d.high <= 0) return {};
  Slopes s;
  s.high = d.high / (d.high - d.low);
  // The line must not be below the relu at either end: the relu is convex.
  s.highShift = std::max(d.high - s.high * d.high, -s.high * d.low) + 0x1p-50 * d.magnitude() + kTiny;
  s.low = d.high > -d.low ? 1 : 0;
  return s;
}

Slopes slopesOf(const Step& step, Interval d) {
  if (step.kind == StepKind::Maximum) return slopesOfRelu(d);
  const Slopes mirrored = slopesOfRelu({-d.high, -d.low});  // min(d, 0) = -max(-d, 0)
  return {mirrored.high, -mirrored.highShift, mirrored.low, -mirrored.lowShift};
}

/// A slope that the function's own has the sign of and never goes below in size; nothing where there is none.
std::optional<double> steadySlope(const Step& step, Interval x) {
  constexpr double kLess = 1 - 0x1p-40;
  if (step.kind == StepKind::Reciprocal) {
    const double far = x.magnitude();
    return -1 / (far * far) * kLess;
  }
  const auto smaller = [&](auto derivative) { return std::min(derivative(x.low), derivative(x.high)) * kLess; };
  switch (step.function) {
    case ElemOp::Exp:
      return std::exp(x.low) * kLess;
    case ElemOp::Log:
      return 1 / x.high * kLess;
    case ElemOp::Sqrt:
      return x.high > 0 ? std::optional(0.5 / std::sqrt(x.high) * kLess) : std::nullopt;
    case ElemOp::Rsqrt:
      return -0.5 / (x.high * std::sqrt(x.high)) * kLess;
    case ElemOp::Tanh:
      return std::max(0.0, smaller([](double v) { return 1 - std::tanh(v) * std::tanh(v) - 0x1p-50; }));
    case ElemOp::Erf:
      return smaller([](double v) { return 1.1283791670955125 * std::exp(-v * v); });
    default:
      return std::nullopt;
  }
}

}  // namespace

Relaxation relaxExtreme(const Step& step, const Box& a, const Box& b, const Box& difference, const Losses& losses) {
  Relaxation lines(difference.size(), true);
  for (std::size_t i = 0; i < difference.size(); ++i) {
    const Interval d = difference.at(i);
    if (!a.at(i).isKnown() || !b.at(i).isKnown() || !d.isKnown()) {
      forget(lines, i);
      continue;
    }
    const Slopes s = slopesOf(step, d);  // y = b + max(a - b, 0)
    lines.lowA[i] = s.low;
    lines.lowB[i] = 1 - s.low;
    lines.lowShift[i] = s.lowShift;
    lines.highA[i] = s.high;
    lines.highB[i] = 1 - s.high;
    lines.highShift[i] = s.highShift;
    lines.slack[i] = lostBack(a.at(i).magnitude() + b.at(i).magnitude(), losses);
  }
  return lines;
}

Relaxation relaxProduct(const Box& a, const Box& b, const Losses& losses) {
  Relaxation lines(a.size(), true);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Interval x = a.at(i), y = b.at(i);
    const double largest = x.magnitude() * y.magnitude();
    if (!x.isKnown() || !y.isKnown() || !(largest <= losses.arithmetic.largest)) {
      forget(lines, i);
      continue;
    }
    // With the ends (p, q) of x and y: xy - (q x + p y - p q) = (x - p)(y - q), whose sign is known for each pair.
    const double middleX = 0.5 * (x.low + x.high), middleY = 0.5 * (y.low + y.high);
    const auto gap = [&](double p, double q) { return std::fabs((middleX - p) * (middleY - q)); };
    const auto [lowP, lowQ] = gap(x.low, y.low) <= gap(x.high, y.high) ? std::pair(x.low, y.low) : std::pair(x.high, y.high);
    const auto [highP, highQ] = gap(x.high, y.low) <= gap(x.low, y.high) ? std::pair(x.high, y.low) : std::pair(x.low, y.high);
    lines.lowA[i] = lowQ;
    lines.lowB[i] = lowP;
    lines.lowShift[i] = -lowP * lowQ;
    lines.highA[i] = highQ;
    lines.highB[i] = highP;
    lines.highShift[i] = -highP * highQ;
    lines.slack[i] = losses.arithmetic.unit * (1 + 0x1p-20) * largest + losses.arithmetic.tiny + lostBack(4 * largest, losses);
  }
  return lines;
}

Relaxation relaxFunction(const Step& step, const Box& x, const Box& y, const Losses& losses) {
  Relaxation lines(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x.at(i).isKnown() || !y.at(i).isKnown()) {
      forget(lines, i);
      continue;
    }
    const std::optional<double> slope = steadySlope(step, x.at(i));
    if (!slope) return Relaxation();
    // y's ends belong to x's, in this order or the other, and f(x) - slope x grows or falls as f does.
    const double least = *slope >= 0 ? x.low[i] : x.high[i], most = *slope >= 0 ? x.high[i] : x.low[i];
    const double magnitude = y.at(i).magnitude() + std::fabs(*slope) * x.at(i).magnitude();
    lines.lowA[i] = lines.highA[i] = *slope;
    lines.lowShift[i] = y.low[i] - *slope * least;
    lines.highShift[i] = y.high[i] - *slope * most;
    const double rounding = step.kind == StepKind::Reciprocal ? 0 : 8 * losses.arithmetic.unit * y.at(i).magnitude();
    lines.slack[i] = rounding + losses.arithmetic.tiny + lostBack(2 * magnitude, losses);
  }
  return lines;
}

}  // namespace tbem::certify
