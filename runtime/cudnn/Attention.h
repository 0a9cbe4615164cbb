// Scaled dot-product attention as cuDNN is asked for it: plain data. Vaswani et al. 2017 (arXiv 1706.03762), section 3.2.1.
#pragma once

#include "tbem/backend.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::cudnn {

/// From a batch, a head and a row to the next, in numbers; those of a row lie beside each other.
using RowStrides = std::array<std::int64_t, 3>;

/// y = softmax(query key^T / sqrt(d)) value for each of `batch` x `heads`: query[l, d], key[m, d], value[m, e], y[l, e]; with the
/// logarithms of the sums of exponentials of the rows, log_sums[l], in f32. Or the gradient of it, from them, y and dy: dquery,
/// dkey, dvalue. Products are summed in f32.
struct Attention {
  bool gradient = false;
  std::int32_t dtype = TBEM_BF16;  ///< of all tensors but log_sums: TBEM_F16 or TBEM_BF16
  std::int64_t batch = 1, heads = 1, l = 1, m = 1, d = 1, e = 1;
  bool causal = false;  ///< row i of the query sees rows 0 .. i of the key alone
  /// Of each tensor, in the order of Plan::run; of log_sums they are row-major. Empty: all tensors are row-major.
  std::vector<RowStrides> strides;

  bool operator==(const Attention&) const = default;
};

/// One line that names the problem: "attention bf16 2x8 512x64 512x64x64 causal", and strides where there are any. Equal lines
/// are equal problems.
std::string describe(const Attention& problem);

}  // namespace tbem::cudnn
