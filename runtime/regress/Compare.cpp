#include "runtime/regress/Compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tbem::regress {

namespace {

/// Nodes and weights of Gauss and Legendre on [-1, 1], by Newton's method on the polynomial.
template <std::size_t N>
struct GaussLegendre {
  std::array<double, N> node{}, weight{};
  GaussLegendre() {
    for (std::size_t i = 0; i < N; ++i) {
      double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (N + 0.5)), slope = 1;
      for (int turn = 0; turn < 100; ++turn) {
        double before = 1, value = x;
        for (std::size_t n = 2; n <= N; ++n) {
          const double next = ((2.0 * n - 1) * x * value - (n - 1.0) * before) / static_cast<double>(n);
          before = value;
          value = next;
        }
        slope = N * (x * value - before) / (x * x - 1);
        const double step = value / slope;
        x -= step;
        if (std::fabs(step) < 1e-15) break;
      }
      node[i] = x;
      weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
  }
};

constexpr std::size_t kNodes = 24;

/// The integral over [low, high] in equal pieces.
template <class F>
double integral(const GaussLegendre<kNodes>& rule, double low, double high, int pieces, const F& f) {
  const double half = (high - low) / pieces / 2;
  double sum = 0;
  for (int piece = 0; piece < pieces; ++piece) {
    const double middle = low + (2 * piece + 1) * half;
    for (std::size_t i = 0; i < kNodes; ++i) sum += rule.weight[i] * f(middle + half * rule.node[i]);
  }
  return sum * half;
}

double normalCdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normalDensity(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

/// P(the range of `groups` standard normal variables <= width): the smallest is at z, the others within `width` above it.
double rangeCdf(const GaussLegendre<kNodes>& rule, double width, std::size_t groups) {
  if (width <= 0) return 0;
  const auto others = static_cast<double>(groups - 1);
  return static_cast<double>(groups) * integral(rule, -9, 9, 12, [&](double z) {
           return normalDensity(z) * std::pow(normalCdf(z + width) - normalCdf(z), others);
         });
}

}  // namespace

double studentizedRangeCdf(double q, std::size_t groups, double degrees) {
  if (q <= 0) return 0;
  static const GaussLegendre<kNodes> rule;
  // s = sqrt(chi^2 / degrees) has the density below; its mass lies within ten of its standard deviations, about sqrt(1 / (2
  // degrees)).
  const double logFront = degrees / 2 * std::log(degrees) - std::lgamma(degrees / 2) - (degrees / 2 - 1) * std::numbers::ln2;
  // With few degrees the range of wide q lies at small s: s = high u^4 brings the nodes there.
  const double reach = 10 / std::sqrt(2 * degrees);
  const double low = std::max(0.0, 1 - reach), high = 1 + reach;
  const auto at = [&](double s) {
    if (s <= 0) return 0.0;
    return std::exp(logFront + (degrees - 1) * std::log(s) - degrees * s * s / 2) * rangeCdf(rule, q * s, groups);
  };
  if (low > 0) return integral(rule, low, high, 8, at);
  return integral(rule, 0, 1, 16, [&](double u) { return 4 * high * u * u * u * at(high * u * u * u * u); });
}

double studentizedRangeQuantile(double probability, std::size_t groups, double degrees) {
  double low = 0, high = 4;
  while (studentizedRangeCdf(high, groups, degrees) < probability && high < 1e6) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 60 && high - low > 1e-10 * high; ++i) {  // bisection: it rises strictly
    const double middle = low + (high - low) / 2;
    (studentizedRangeCdf(middle, groups, degrees) < probability ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

tl::expected<std::vector<Contrast>, std::string> contrasts(std::span<const Result> fits, double confidence) {
  if (fits.size() < 2) return tl::unexpected(std::string("one fit has nothing to be compared with"));
  const Result& first = fits.front();
  double squares = 0, degrees = 0;
  for (const Result& fit : fits) {
    if (fit.rows != first.rows || fit.parameters != first.parameters)
      return tl::unexpected(std::string("the fits are not of one model on the same rows"));
    if (fit.residualDegrees == 0)
      return tl::unexpected(std::string("with as many coefficients as rows nothing says how large errors are"));
    for (const double residual : fit.residuals) squares += residual * residual;
    degrees += static_cast<double>(fit.residualDegrees);
  }
  const double sd = std::sqrt(squares / degrees);
  std::vector<std::size_t> compared;  // coefficients but the constant, which is no effect of its own
  for (std::size_t c = 0; c < first.parameters; ++c) {
    if (first.coefficients[c].term != "1") compared.push_back(c);
  }
  const double families = 1 + static_cast<double>(compared.size());
  const double q = studentizedRangeQuantile(1 - (1 - confidence) / families, fits.size(), degrees);
  std::vector<Contrast> all;
  const auto add = [&](const std::string& term, std::size_t left, std::size_t right, double difference, double scale) {
    const double half = q * sd * scale;
    all.push_back({term, left, right, difference, {difference - half, difference + half}});
  };
  const auto mean = [](const Result& fit) {
    double sum = 0;
    for (const double value : fit.fitted) sum += value;
    return sum / static_cast<double>(fit.rows);
  };
  for (std::size_t left = 0; left < fits.size(); ++left) {
    for (std::size_t right = left + 1; right < fits.size(); ++right)
      add("", left, right, mean(fits[left]) - mean(fits[right]), std::sqrt(1 / static_cast<double>(first.rows)));
  }
  for (const std::size_t c : compared) {
    double square = 0;  // of row c of the root of (X' X)^-1
    for (std::size_t k = 0; k < first.parameters; ++k) square += std::pow(first.rootInverse[c * first.parameters + k], 2);
    for (std::size_t left = 0; left < fits.size(); ++left) {
      for (std::size_t right = left + 1; right < fits.size(); ++right)
        add(first.coefficients[c].term, left, right, fits[left].coefficients[c].value - fits[right].coefficients[c].value,
            std::sqrt(square));
    }
  }
  return all;
}

}  // namespace tbem::regress
