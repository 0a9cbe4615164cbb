#include "runtime/perturb/Bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::perturb {

namespace {

constexpr double kSlack = 1e-5;        ///< of the radius, and of the box's width
constexpr double kRounding = 0x1p-23;  ///< what the two roundings of a sum in f32 move, relative to the largest number

double largestOf(const Plan& plan) { return std::max(std::abs(plan.low), std::abs(plan.high)); }

}  // namespace

Distance distanceBetween(std::span<const float> a, std::span<const float> b) {
  Distance distance;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    distance.linf = std::max(distance.linf, apart);
    distance.l2 += apart * apart;
  }
  distance.l2 = std::sqrt(distance.l2);
  return distance;
}

void Range::add(std::span<const float> numbers) {
  for (const float number : numbers) {
    if (number < least) least = number;
    if (number > largest) largest = number;
  }
}

std::string Range::text() const { return least > largest ? "not numbers" : fmt::format("from {} to {}", least, largest); }

std::string outsideOfBox(const Plan& plan, std::span<const float> numbers) {
  const double slack = kSlack * (plan.high - plan.low) + kRounding * largestOf(plan);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = numbers[i];
    if (number >= plan.low - slack && number <= plan.high + slack) continue;  // a NaN is not
    const char* const why = std::isnan(number) ? ": the network or the method's objective computes what is no number there" : "";
    return fmt::format("has {} at place {}, and valid numbers are from {} to {}{}", number, i, plan.low, plan.high, why);
  }
  return {};
}

std::string outsideOfBounds(const Plan& plan, std::span<const float> example, std::span<const float> point) {
  if (std::string problem = outsideOfBox(plan, point); !problem.empty()) return problem;
  const Distance distance = distanceBetween(example, point);
  const bool isLinf = plan.norm == Norm::Linf;
  const double apart = isLinf ? distance.linf : distance.l2;
  const double rounding = kRounding * largestOf(plan) * (isLinf ? 1 : std::sqrt(static_cast<double>(point.size())));
  if (apart <= plan.radius * (1 + kSlack) + rounding) return {};
  return fmt::format("lies {} from its example by {}, and the radius is {}", apart, isLinf ? "linf" : "l2", plan.radius);
}

}  // namespace tbem::perturb
