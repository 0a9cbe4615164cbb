#include "compiler/certify/Evaluate.h"

#include "compiler/certify/Kernels.h"

#include <cmath>

namespace tbem::certify {

namespace {

using graph::ElemOp;

Interval product(Interval a, Interval b) {
  const double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high};
}

Interval square(Interval a) {
  const double low = a.low * a.low, high = a.high * a.high;
  return {a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high), std::max(low, high)};
}

Interval truth(bool surelyTrue, bool surelyFalse) { return {surelyTrue ? 1.0 : 0.0, surelyFalse ? 0.0 : 1.0}; }

Interval power(Interval a, Interval b, const Arithmetic& arithmetic) {
  if (!(a.low > arithmetic.tiny) || !a.isKnown() || !b.isKnown()) return {};
  Interval all = Interval::at(std::pow(a.low, b.low));
  for (const double value : {std::pow(a.low, b.high), std::pow(a.high, b.low), std::pow(a.high, b.high)})
    all = hull(all, Interval::at(value));
  if (!all.isKnown() || all.magnitude() > arithmetic.largest) return {};
  return outward(all.low, all.high, 8 * arithmetic.unit * all.magnitude() + arithmetic.tiny);
}

/// p_i = 1 / sum_j e^(z_j - z_i), which is largest where z_i is and the others are smallest.
Box softmax(const Box& z, const Arithmetic& arithmetic) {
  const std::size_t n = z.size();
  // Larger differences give 0; below, they are rounded.
  const double furthest = arithmetic.unit == kUnit ? 746 : 104;
  const double relative =
      (2 * static_cast<double>(n) + 64 + 2 * furthest) * arithmetic.unit + gammaOf(static_cast<double>(n) + 8, kUnit);
  Box p(n);
  for (std::size_t i = 0; i < n; ++i) {
    Interval sum = Interval::at(1);
    if (!z.at(i).isKnown()) return Box(n);
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      sum.low += std::exp(z.low[j] - z.high[i]);
      sum.high += std::exp(z.high[j] - z.low[i]);
    }
    p.set(i,
          {std::max(0.0, (1 / sum.high) * (1 - relative) - arithmetic.tiny), (1 / sum.low) * (1 + relative) + arithmetic.tiny});
  }
  return p;
}

/// The largest element is at least each one's least, and at most the most of one.
Interval largestOf(const Box& p) {
  Interval largest = p.at(0);
  for (std::size_t i = 1; i < p.size(); ++i) largest = {std::max(largest.low, p.low[i]), std::max(largest.high, p.high[i])};
  return largest;
}

class Evaluation {
public:
  Evaluation(const Step& step, std::span<const Box* const> inputs, const Losses& losses)
      : step(step), inputs(inputs), losses(losses), out{Box(step.shape.count()), {}} {}

  Value run() {
    switch (step.kind) {
      case StepKind::Gather:
        gather();
        break;
      case StepKind::Convolve:
        convolution();
        break;
      case StepKind::Sums:
        sums();
        break;
      case StepKind::Affine:
        affine();
        break;
      case StepKind::Add:
      case StepKind::Subtract:
      case StepKind::Multiply:
        arithmetic();
        break;
      case StepKind::Softmax:
        out.box = softmax(*inputs[0], losses.arithmetic);
        break;
      case StepKind::Confidence:
        out.box.set(0, largestOf(softmax(*inputs[0], losses.arithmetic)));
        break;
      default:
        for (std::size_t i = 0; i < out.box.size(); ++i) out.box.set(i, element(i));
    }
    return std::move(out);
  }

private:
  Interval input(std::size_t k, std::size_t i) const { return inputs[k]->at(i); }

  /// Sets an element that is computed from numbers of this magnitude altogether.
  void set(std::size_t i, Interval value, double magnitude) {
    if (magnitude <= losses.arithmetic.largest) out.box.set(i, value);
  }

  /// The two operands of a comparison are one, or one number.
  bool isSame(std::size_t i) const {
    return step.inputs[0] == step.inputs[1] || (input(0, i).low == input(0, i).high && input(0, i) == input(1, i));
  }

  void gather() {
    for (std::size_t i = 0; i < out.box.size(); ++i) {
      std::size_t k = 0, element = step.index[i];
      for (; element != kHole && element >= inputs[k]->size(); ++k) element -= inputs[k]->size();
      out.box.set(i, element == kHole ? Interval::at(0) : input(k, element));
    }
  }

  /// Middle and radius: y = W mid +- (|W| rad + losses); Rump 1999, "Fast and parallel interval arithmetic".
  void convolution() {
    const Convolution& c = step.convolution;
    const std::size_t n = inputs[0]->size(), m = out.box.size();
    std::vector<double> mid(n), rad(n), magnitude(n), absolute(c.weights.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Interval x = input(0, i);
      magnitude[i] = x.magnitude();
      if (!x.isKnown()) continue;
      mid[i] = 0.5 * x.low + 0.5 * x.high;
      rad[i] = std::max(x.high - mid[i], mid[i] - x.low) * (1 + 0x1p-50);
    }
    double heaviest = 0;
    for (std::size_t i = 0; i < absolute.size(); ++i) heaviest = std::max(heaviest, absolute[i] = std::fabs(c.weights[i]));
    std::vector<double> yMid(m), yRad(m), yMagnitude(m);
    convolve(c, c.weights.data(), mid.data(), yMid.data());
    convolve(c, absolute.data(), rad.data(), yRad.data());
    convolve(c, absolute.data(), magnitude.data(), yMagnitude.data());
    const auto count = static_cast<double>(c.products());
    const double relative = gammaOf(count + 2, losses.arithmetic.unit);
    const double own = gammaOf(count + 8, kUnit), back = (static_cast<double>(c.uses()) + losses.fanOut + 8) * kUnit;
    const double least = losses.arithmetic.tiny * (2 * count + 2) * (1 + heaviest) + kTiny;
    out.slack.resize(m);
    for (std::size_t i = 0; i < m; ++i) {
      const double bias = c.bias.empty() ? 0 : c.bias[i % static_cast<std::size_t>(c.o)];
      const double sum = yMagnitude[i] + std::fabs(bias);
      const double radius = yRad[i] + (relative + 2 * own) * sum + least;
      set(i, outward(yMid[i] + bias - radius, yMid[i] + bias + radius), sum);
      out.slack[i] = (relative + own + back) * sum + least;
    }
  }

  void sums() {
    out.slack.resize(out.box.size());
    for (std::size_t i = 0; i < out.box.size(); ++i) {
      double low = 0, high = 0, sum = 0;
      for (std::uint32_t k = step.offsets[i]; k < step.offsets[i + 1]; ++k) {
        const Interval x = input(0, step.index[k]);
        low += x.low;
        high += x.high;
        sum += x.magnitude();
      }
      const double scale = step.scale[i], count = step.offsets[i + 1] - step.offsets[i], whole = sum * scale;
      const double rounding = gammaOf(count + 2, losses.arithmetic.unit) * whole + (count + 2) * losses.arithmetic.tiny;
      set(i, outward(low * scale, high * scale, rounding + gammaOf(count + 4, kUnit) * whole), sum);
      out.slack[i] = rounding + (2 * count + losses.fanOut + 8) * kUnit * whole;
    }
  }

  /// Link by link; a constant that is known but for its last places counts in a form as its middle.
  void affine() {
    const double unit = losses.arithmetic.unit * (1 + 0x1p-20);
    out.slack.resize(out.box.size());
    for (std::size_t i = 0; i < out.box.size(); ++i) {
      Interval value = input(0, i);
      double lost = 0, parts = value.magnitude();
      for (const Link& link : step.chain) {
        const Interval k = link.constant.at(i);
        const double wide = 0.5 * (k.high - k.low);
        Interval exact;
        if (link.kind == StepKind::Multiply) {
          exact = product(value, k);
          lost = lost * k.magnitude() + value.magnitude() * wide;
          parts *= k.magnitude();
        } else {
          exact = link.kind == StepKind::Add ? Interval{value.low + k.low, value.high + k.high}
                  : link.constantFirst       ? Interval{k.low - value.high, k.high - value.low}
                                             : Interval{value.low - k.high, value.high - k.low};
          lost += wide;
          parts += k.magnitude();
        }
        const double rounding = unit * exact.magnitude() + losses.arithmetic.tiny;
        lost += rounding;
        value = value.isKnown() && k.isKnown() ? outward(exact.low, exact.high, rounding) : Interval{};
      }
      set(i, value, parts);
      out.slack[i] = lost * (1 + 0x1p-40) + (4 * static_cast<double>(step.chain.size()) + losses.fanOut + 8) * kUnit * parts;
    }
  }

  void arithmetic() {
    const bool same = step.inputs[0] == step.inputs[1];
    const double unit = losses.arithmetic.unit, back = (losses.fanOut + 8) * kUnit;
    out.slack.resize(out.box.size());
    for (std::size_t i = 0; i < out.box.size(); ++i) {
      const Interval a = input(0, i), b = input(1, i);
      Interval exact;
      double parts = a.magnitude() + b.magnitude();
      if (step.kind == StepKind::Add) {
        exact = {a.low + b.low, a.high + b.high};
      } else if (step.kind == StepKind::Subtract) {
        exact = same ? Interval::at(0) : Interval{a.low - b.high, a.high - b.low};
      } else {
        exact = same ? square(a) : product(a, b);
        parts = a.magnitude() * b.magnitude();
      }
      const double rounding = unit * (1 + 0x1p-20) * exact.magnitude() + losses.arithmetic.tiny;
      if (a.isKnown() && b.isKnown()) set(i, outward(exact.low, exact.high, rounding), parts);
      out.slack[i] = rounding + back * parts;
    }
  }

  Interval element(std::size_t i) const {
    const Interval a = input(0, i);
    const Interval b = inputs.size() > 1 ? input(1, i) : a;
    const bool known = a.isKnown() && b.isKnown();
    switch (step.kind) {
      case StepKind::Negate:
        return {-a.high, -a.low};
      case StepKind::Maximum:
        return known ? Interval{std::max(a.low, b.low), std::max(a.high, b.high)} : Interval{};
      case StepKind::Minimum:
        return known ? Interval{std::min(a.low, b.low), std::min(a.high, b.high)} : Interval{};
      case StepKind::Reciprocal:
        return a.isKnown() && (a.low > 0 || a.high < 0) ? outward(1 / a.high, 1 / a.low) : Interval{};
      case StepKind::Function:
        if (step.function == ElemOp::Pow) return power(a, b, losses.arithmetic);
        return functionOf(step.function, a, losses.arithmetic);
      case StepKind::Less:
        return truth(known && a.high < b.low, known && a.low >= b.high);
      case StepKind::LessEqual:
        return truth(known && a.high <= b.low, known && a.low > b.high);
      case StepKind::Equal:
        return truth(known && isSame(i), known && (a.high < b.low || b.high < a.low));
      case StepKind::And:
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
      case StepKind::Or:
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
      case StepKind::Not:
        return {1 - a.high, 1 - a.low};
      case StepKind::Select:
        if (a.low == a.high) return a.low != 0 ? b : input(2, i);
        return hull(b, input(2, i));
      default:
        return {};
    }
  }

  const Step& step;
  std::span<const Box* const> inputs;
  const Losses& losses;
  Value out;
};

}  // namespace

Value evaluate(const Step& step, std::span<const Box* const> inputs, const Losses& losses) {
  return Evaluation(step, inputs, losses).run();
}

Interval functionOf(ElemOp function, Interval x, const Arithmetic& arithmetic) {
  if (!x.isKnown()) return {};
  const auto increasing = [&](auto f) {
    const double low = f(x.low), high = f(x.high);
    const double magnitude = Interval{low, high}.magnitude();
    if (!(magnitude <= arithmetic.largest)) return Interval{};
    return outward(low, high, 8 * arithmetic.unit * magnitude + arithmetic.tiny);
  };
  switch (function) {
    case ElemOp::Exp:
      return increasing([](double v) { return std::exp(v); });
    case ElemOp::Log:
      return x.low > arithmetic.tiny ? increasing([](double v) { return std::log(v); }) : Interval{};
    case ElemOp::Sqrt:
      return x.low >= 0 ? increasing([](double v) { return std::sqrt(v); }) : Interval{};
    case ElemOp::Rsqrt: {
      if (!(x.low > arithmetic.tiny)) return {};
      const Interval negative = increasing([](double v) { return -1 / std::sqrt(v); });
      return {-negative.high, -negative.low};
    }
    case ElemOp::Tanh:
      return increasing([](double v) { return std::tanh(v); });
    case ElemOp::Erf:
      return increasing([](double v) { return std::erf(v); });
    case ElemOp::Abs:
      return {x.low <= 0 && x.high >= 0 ? 0 : std::min(std::fabs(x.low), std::fabs(x.high)), x.magnitude()};
    case ElemOp::Floor:
      return {std::floor(x.low), std::floor(x.high)};
    case ElemOp::Sin:
    case ElemOp::Cos:
      return outward(-1, 1, 8 * arithmetic.unit);
    default:
      return {};
  }
}

Interval confidenceOf(Interval sum, std::size_t n, const Arithmetic& arithmetic) {
  const double relative = (2 * static_cast<double>(n) + 64) * arithmetic.unit + gammaOf(static_cast<double>(n) + 8, kUnit);
  return {(1 / sum.high) * (1 - relative), (1 / sum.low) * (1 + relative)};
}

}  // namespace tbem::certify
