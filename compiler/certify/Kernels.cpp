#include "compiler/certify/Kernels.h"

#include <algorithm>

namespace tbem::certify {

// One body for each vector width that processors of this family have.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TBEM_CERTIFY_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define TBEM_CERTIFY_CLONES
#endif

namespace {

/// y[0..m] += the sum of x[k] * rows[k * m ..] for k below n.
TBEM_CERTIFY_CLONES void addRows(const double* x, std::int64_t n, const double* rows, std::int64_t m, double* y) {
  for (std::int64_t k = 0; k < n; ++k) {
    const double factor = x[k];
    if (factor == 0) continue;
    const double* row = rows + k * m;
    for (std::int64_t i = 0; i < m; ++i) y[i] += factor * row[i];
  }
}

/// The dot product, in eight partial sums.
TBEM_CERTIFY_CLONES double dot(const double* a, const double* b, std::int64_t n) {
  double sum[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// Rows or columns of an image that taps of a kernel meet from results `from` to `to`, ends excluded.
std::pair<std::int64_t, std::int64_t> met(std::int64_t from, std::int64_t to, std::int64_t stride, std::int64_t before,
                                          std::int64_t reach, std::int64_t length) {
  return {std::clamp<std::int64_t>(from * stride - before, 0, length),
          std::clamp<std::int64_t>((to - 1) * stride - before + reach + 1, 0, length)};
}

}  // namespace

void convolve(const Convolution& c, const double* weights, const double* x, double* y) {
  const std::int64_t inputs = c.inputs(), outputs = c.outputs();
  for (std::int64_t i = 0; i < c.oh; ++i) {
    for (std::int64_t j = 0; j < c.ow; ++j) {
      for (std::int64_t t = 0; t < c.kh * c.kw; ++t) {
        const std::int64_t row = i * c.strideH - c.top + t / c.kw * c.dilationH;
        const std::int64_t column = j * c.strideW - c.left + t % c.kw * c.dilationW;
        if (row < 0 || row >= c.h || column < 0 || column >= c.w) continue;
        for (std::int64_t g = 0; g < c.groups; ++g)
          addRows(x + (row * c.w + column) * c.c + g * inputs, inputs, weights + (t * c.groups + g) * inputs * outputs, outputs,
                  y + (i * c.ow + j) * c.o + g * outputs);
      }
    }
  }
}

Window convolveBack(const Convolution& c, const double* dy, const Window& window, double* dx, std::int64_t& products) {
  const std::int64_t inputs = c.inputs(), outputs = c.outputs();
  constexpr std::int64_t kFewInputs = 4;  // fewer than a vector has lanes: outputs are what lies side by side then
  for (std::int64_t i = window.h0; i < window.h1; ++i) {
    for (std::int64_t j = window.w0; j < window.w1; ++j) {
      const double* from = dy + (i * c.ow + j) * c.o;
      for (std::int64_t t = 0; t < c.kh * c.kw; ++t) {
        const std::int64_t row = i * c.strideH - c.top + t / c.kw * c.dilationH;
        const std::int64_t column = j * c.strideW - c.left + t % c.kw * c.dilationW;
        if (row < 0 || row >= c.h || column < 0 || column >= c.w) continue;
        for (std::int64_t g = 0; g < c.groups; ++g) {
          double* to = dx + (row * c.w + column) * c.c + g * inputs;
          const std::int64_t block = (t * c.groups + g) * inputs * outputs;
          if (inputs >= kFewInputs) {
            addRows(from + g * outputs, outputs, c.transposed.data() + block, inputs, to);
          } else {
            for (std::int64_t k = 0; k < inputs; ++k)
              to[k] += dot(from + g * outputs, c.weights.data() + block + k * outputs, outputs);
          }
        }
      }
    }
  }
  products += (window.h1 - window.h0) * (window.w1 - window.w0) * c.o * c.products();
  Window image;
  std::tie(image.h0, image.h1) = met(window.h0, window.h1, c.strideH, c.top, (c.kh - 1) * c.dilationH, c.h);
  std::tie(image.w0, image.w1) = met(window.w0, window.w1, c.strideW, c.left, (c.kw - 1) * c.dilationW, c.w);
  return image;
}

}  // namespace tbem::certify
