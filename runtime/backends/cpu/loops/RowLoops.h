// The inner loop of the sums that the gradients of a normalisation over the last axis share.
//
// Sums of a row are f32, as many as a register has lanes, joined in f64; sums of a column are f32 over the rows of one call,
// which are few.
#pragma once

#include <cstdint>

namespace tbem::cpu {

struct RowSums {
  const float* dy = nullptr;      ///< `rows` rows of `features`
  const float* x = nullptr;       ///< the same
  const float* mean = nullptr;    ///< one a row; null: 0
  const float* scale = nullptr;   ///< one a row: 1 / sqrt(variance + eps)
  const float* weight = nullptr;  ///< one a feature; null: 1
  std::int64_t rows = 0, features = 0;
  float* dweight = nullptr;  ///< one a feature: sum over the rows of dy * xhat
  float* dbias = nullptr;    ///< one a feature: sum over the rows of dy
  float* sumG = nullptr;     ///< one a row: sum of dy * weight
  float* sumGx = nullptr;    ///< one a row: sum of dy * weight * xhat
};

void rowSums(const RowSums& arguments);

}  // namespace tbem::cpu
