#include "runtime/regress/StudentT.h"

#include <cmath>
#include <initializer_list>

namespace tbem::regress {

namespace {

/// The continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2), by the modified Lentz method.
double betaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kEnough = 1e-16;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double value = d;
  for (int m = 1; m <= 20000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      if (std::fabs(d) < kTiny) d = kTiny;
      c = 1 + term / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      d = 1 / d;
      step = c * d;
      value *= step;
    }
    if (std::fabs(step - 1) < kEnough) break;
  }
  return value;
}

/// P(T > t) for t >= 0, without the cancellation of 1 - cdf.
double upperTail(double t, double degrees) { return 0.5 * incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t)); }

}  // namespace

double incompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * betaFraction(a, b, x) / a;
  return 1 - front * betaFraction(b, a, 1 - x) / b;
}

double studentCdf(double t, double degrees) { return t >= 0 ? 1 - upperTail(t, degrees) : upperTail(-t, degrees); }

double studentQuantile(double probability, double degrees) {
  if (probability == 0.5) return 0;
  const double tail = probability > 0.5 ? 1 - probability : probability;
  double low = 0, high = 1;
  while (upperTail(high, degrees) > tail && high < 1e300) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {  // bisection: the tail falls strictly
    const double middle = low + (high - low) / 2;
    (upperTail(middle, degrees) > tail ? low : high) = middle;
  }
  const double t = low + (high - low) / 2;
  return probability > 0.5 ? t : -t;
}

}  // namespace tbem::regress
