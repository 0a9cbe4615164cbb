// The inner loops of pooling: one image, W channels side by side, places `point` floats apart.
#pragma once

#include "runtime/core/Primitive.h"

#include <cstdint>

namespace tbem::cpu {

enum class PoolLoop { Max, MaxGradient, Average, AverageGradient };

/// x: the image (not read by AverageGradient). small: the result, or its gradient. dx: the gradient of the image, written whole.
struct PoolPlane {
  const float* x = nullptr;
  const float* dy = nullptr;
  float* y = nullptr;
  float* dx = nullptr;
  std::int64_t point = 0;
};

/// Runs the loop for `width` 16, 8, 4 or 1. A maximum over no element is minus infinity; a NaN is larger than any number.
void poolPlane(PoolLoop loop, int width, const runtime::Pool2d& pool, const PoolPlane& plane);

}  // namespace tbem::cpu
