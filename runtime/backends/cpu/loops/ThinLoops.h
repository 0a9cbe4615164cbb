// The inner loops of a dense layer over few rows: the matrix of weights is what takes time, and each loop streams it once.
#pragma once

#include <cstdint>

namespace tbem::cpu {

enum class ThinLoop {
  Forward,         ///< y = x w^T + bias, for outputs [first, last)
  InputGradient,   ///< dx = dy w, for inputs [first, last)
  WeightGradient,  ///< dw = dy^T x, for outputs [first, last)
};

/// Row-major: x and dx [rows, in], w and dw [out, in], y and dy [rows, out], bias [out] or null.
struct ThinProduct {
  std::int64_t rows = 0, in = 0, out = 0;
  const float* x = nullptr;
  const float* w = nullptr;
  const float* bias = nullptr;
  const float* dy = nullptr;
  float* result = nullptr;
};

void thinProduct(ThinLoop loop, const ThinProduct& product, std::int64_t first, std::int64_t last);

}  // namespace tbem::cpu
