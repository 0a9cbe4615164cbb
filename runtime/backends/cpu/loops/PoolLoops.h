// The inner loops of pooling: one image, W channels side by side, places `point` elements apart.
#pragma once

#include "runtime/core/Primitive.h"

#include <cstdint>

namespace tbem::cpu {

enum class PoolLoop { Max, MaxGradient, Average, AverageGradient };

/// x: the image (not read by AverageGradient). small: the result, or its gradient. dx: the gradient of the image, written whole.
/// All are f32, or bf16 where `narrow`: gradients are then summed in `sums`, W floats a place, and rounded once.
struct PoolPlane {
  const void* x = nullptr;
  const void* dy = nullptr;
  void* y = nullptr;
  void* dx = nullptr;
  float* sums = nullptr;
  std::int64_t point = 0;
  bool narrow = false;
};

/// Runs the loop for `width` 16, 8, 4 or 1. A maximum over no element is minus infinity; a NaN is larger than any number.
void poolPlane(PoolLoop loop, int width, const runtime::Pool2d& pool, const PoolPlane& plane);

}  // namespace tbem::cpu
