#include "compiler/certify/Kernels.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tbem::certify {

// One body for each vector width that processors of this family have. By features: `arch=` asks for the maker as well.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TBEM_CERTIFY_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#define TBEM_CERTIFY_INLINE __attribute__((always_inline)) inline
#else
#define TBEM_CERTIFY_CLONES
#define TBEM_CERTIFY_INLINE inline
#endif

namespace {

/// y[0..M] += the sum of x[k] * rows[k * M ..] for k below n, in U sums, which do not wait for one another.
template <int M, int U>
TBEM_CERTIFY_INLINE void addFixed(const double* x, std::int64_t n, const double* rows, double* y) {
  double sums[U][M] = {};
  std::int64_t k = 0;
  for (; k + U <= n; k += U) {
    for (int u = 0; u < U; ++u) {
      for (int i = 0; i < M; ++i) sums[u][i] += x[k + u] * rows[(k + u) * M + i];
    }
  }
  for (; k < n; ++k) {
    for (int i = 0; i < M; ++i) sums[0][i] += x[k] * rows[k * M + i];
  }
  for (int u = 1; u < U; ++u) {
    for (int i = 0; i < M; ++i) sums[0][i] += sums[u][i];
  }
  for (int i = 0; i < M; ++i) y[i] += sums[0][i];
}

TBEM_CERTIFY_INLINE void addRows(const double* x, std::int64_t n, const double* rows, std::int64_t m, double* y) {
  switch (m) {
    case 4:
      return addFixed<4, 4>(x, n, rows, y);
    case 8:
      return addFixed<8, 4>(x, n, rows, y);
    case 16:
      return addFixed<16, 4>(x, n, rows, y);
    case 32:
      return addFixed<32, 2>(x, n, rows, y);
    default:
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t i = 0; i < m; ++i) y[i] += x[k] * rows[k * m + i];
      }
  }
}

/// The dot product, in eight partial sums.
TBEM_CERTIFY_INLINE double dot(const double* a, const double* b, std::int64_t n) {
  double sum[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

TBEM_CERTIFY_CLONES void convolve(const Convolution& c, const double* weights, const double* x, double* y) {
  const std::int64_t inputs = c.inputs(), outputs = c.outputs(), block = inputs * outputs;
  for (std::int64_t i = 0; i < c.oh; ++i) {
    for (std::int64_t j = 0; j < c.ow; ++j) {
      double* to = y + (i * c.ow + j) * c.o;
      for (std::int64_t kh = 0; kh < c.kh; ++kh) {
        const std::int64_t row = i * c.strideH - c.top + kh * c.dilationH;
        if (row < 0 || row >= c.h) continue;
        for (std::int64_t kw = 0; kw < c.kw; ++kw) {
          const std::int64_t column = j * c.strideW - c.left + kw * c.dilationW;
          if (column < 0 || column >= c.w) continue;
          const double* from = x + (row * c.w + column) * c.c;
          const double* tap = weights + (kh * c.kw + kw) * c.groups * block;
          for (std::int64_t g = 0; g < c.groups; ++g)
            addRows(from + g * inputs, inputs, tap + g * block, outputs, to + g * outputs);
        }
      }
    }
  }
}

namespace {

/// Of an input with fewer channels than a vector has lanes, whose outputs are what lies side by side.
constexpr std::int64_t kFewInputs = 4;

TBEM_CERTIFY_CLONES void backwards(const Convolution& c, const double* dy, const Window& window, double* dx) {
  const std::int64_t inputs = c.inputs(), outputs = c.outputs(), block = inputs * outputs;
  const double* weights = inputs >= kFewInputs ? c.transposed.data() : c.weights.data();
  for (std::int64_t i = window.h0; i < window.h1; ++i) {
    for (std::int64_t j = window.w0; j < window.w1; ++j) {
      const double* from = dy + (i * c.ow + j) * c.o;
      for (std::int64_t kh = 0; kh < c.kh; ++kh) {
        const std::int64_t row = i * c.strideH - c.top + kh * c.dilationH;
        if (row < 0 || row >= c.h) continue;
        for (std::int64_t kw = 0; kw < c.kw; ++kw) {
          const std::int64_t column = j * c.strideW - c.left + kw * c.dilationW;
          if (column < 0 || column >= c.w) continue;
          double* to = dx + (row * c.w + column) * c.c;
          const double* tap = weights + (kh * c.kw + kw) * c.groups * block;
          for (std::int64_t g = 0; g < c.groups; ++g) {
            if (inputs >= kFewInputs) {
              addRows(from + g * outputs, outputs, tap + g * block, inputs, to + g * inputs);
            } else {
              for (std::int64_t k = 0; k < inputs; ++k)
                to[g * inputs + k] += dot(from + g * outputs, tap + g * block + k * outputs, outputs);
            }
          }
        }
      }
    }
  }
}

/// Rows or columns of an image that taps of a kernel meet from results `from` to `to`, ends excluded.
std::pair<std::int64_t, std::int64_t> met(std::int64_t from, std::int64_t to, std::int64_t stride, std::int64_t before,
                                          std::int64_t reach, std::int64_t length) {
  return {std::clamp<std::int64_t>(from * stride - before, 0, length),
          std::clamp<std::int64_t>((to - 1) * stride - before + reach + 1, 0, length)};
}

}  // namespace

Window convolveBack(const Convolution& c, const double* dy, const Window& window, double* dx, std::int64_t& products) {
  backwards(c, dy, window, dx);
  products += (window.h1 - window.h0) * (window.w1 - window.w0) * c.o * c.products();
  Window image;
  std::tie(image.h0, image.h1) = met(window.h0, window.h1, c.strideH, c.top, (c.kh - 1) * c.dilationH, c.h);
  std::tie(image.w0, image.w1) = met(window.w0, window.w1, c.strideW, c.left, (c.kw - 1) * c.dilationW, c.w);
  return image;
}

// ---- Linear forms --------------------------------------------------------------------------------------------------------

namespace {

/// Adds term(i) for all i below n to the sums.
template <class Term>
TBEM_CERTIFY_INLINE void addTerms(std::int64_t n, Lanes& sums, Term term) {
  std::int64_t i = 0;
  for (; i + Lanes::kCount <= n; i += Lanes::kCount) {
    for (int k = 0; k < Lanes::kCount; ++k) {
      const double t = term(i + k);
      sums.value[k] += t;
      sums.absolute[k] += std::fabs(t);
    }
  }
  for (; i < n; ++i) {
    const double t = term(i);
    sums.value[0] += t;
    sums.absolute[0] += std::fabs(t);
  }
}

}  // namespace

TBEM_CERTIFY_CLONES void handOn(std::int64_t n, const double* form, double factor, double* next) {
  for (std::int64_t i = 0; i < n; ++i) next[i] += factor * form[i];
}

TBEM_CERTIFY_CLONES void endIn(std::int64_t n, const double* form, const double* low, const double* high, Lanes& sums) {
  addTerms(
      n, sums, [=](std::int64_t i) __attribute__((always_inline)) { return form[i] * (form[i] >= 0 ? low[i] : high[i]); });
}

TBEM_CERTIFY_CLONES void takeOff(std::int64_t n, const double* form, const double* slack, Lanes& sums) {
  addTerms(
      n, sums, [=](std::int64_t i) __attribute__((always_inline)) { return -std::fabs(form[i]) * slack[i]; });
}

TBEM_CERTIFY_CLONES void throughAffine(std::int64_t n, const double* form, const double* scale, const double* shift, double* next,
                                       Lanes& sums) {
  addTerms(
      n, sums, [=](std::int64_t i) __attribute__((always_inline)) { return form[i] * shift[i]; });
  for (std::int64_t i = 0; i < n; ++i) next[i] += form[i] * scale[i];
}

TBEM_CERTIFY_CLONES void throughLines(std::int64_t n, const double* form, const double* low, const double* high, double* next) {
  for (std::int64_t i = 0; i < n; ++i) next[i] += form[i] * (form[i] >= 0 ? low[i] : high[i]);
}

}  // namespace tbem::certify
