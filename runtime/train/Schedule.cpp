#include "runtime/train/Schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tbem::train {

double Schedule::at(std::int64_t step) const {
  const auto s = static_cast<double>(step);
  if (s + 1 < warmup) return (s + 1) / warmup;
  const double t = total > warmup ? std::clamp((s - warmup) / (total - warmup), 0.0, 1.0) : 1;
  switch (kind) {
    case Kind::Constant:
      return 1;
    case Kind::Linear:
      return 1 - (1 - floor) * t;
    case Kind::Cosine:
      return floor + (1 - floor) * (1 + std::cos(std::numbers::pi * t)) / 2;
    case Kind::Step:
      return std::pow(factor, std::floor(s / every));
  }
  return 1;
}

}  // namespace tbem::train
