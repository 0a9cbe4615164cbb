// Convolution and its two gradients: Dumoulin & Visin 2016 (arXiv 1603.07285), relationship 6 and section 4.
//
// The innermost loop runs along a row of the result, so that each tap of the kernel is one scaled addition of two rows; a whole
// plane is summed in f64 in the workspace and rounded once.
#include "runtime/backends/ref/Kernels.h"

#include <algorithm>

namespace tbem::ref {
namespace {

using runtime::Conv2d;

/// Result columns whose input column j * stride + shift lies inside [0, length).
struct Range {
  std::int64_t begin, end;
};

Range inside(std::int64_t count, std::int64_t length, std::int64_t stride, std::int64_t shift) {
  const std::int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const std::int64_t last = length - 1 - shift;
  const std::int64_t end = last < 0 ? 0 : last / stride + 1;
  return {std::min(begin, count), std::max(std::min(end, count), std::min(begin, count))};
}

/// Calls row(image row, result row, columns, image column of result column 0) for each row that tap (kh, kw) meets.
template <class Row>
void forRows(const Conv2d& c, std::int64_t kh, std::int64_t kw, Row row) {
  const std::int64_t shiftH = kh * c.dilationH - c.top, shiftW = kw * c.dilationW - c.left;
  const Range rows = inside(c.oh, c.h, c.strideH, shiftH), columns = inside(c.ow, c.w, c.strideW, shiftW);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) row(i * c.strideH + shiftH, i, columns, shiftW);
}

/// The dot product of two rows, in four partial sums.
template <class T>
double dot(const T* a, std::int64_t stride, const T* b, std::int64_t count) {
  double sum[4] = {};
  std::int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    for (int k = 0; k < 4; ++k) sum[k] += static_cast<double>(a[(j + k) * stride]) * static_cast<double>(b[j + k]);
  }
  for (; j < count; ++j) sum[0] += static_cast<double>(a[j * stride]) * static_cast<double>(b[j]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

template <class T>
tbem_status conv2d(const Op& op, void* const* memory, void* work, const double*) {
  const Conv2d c = runtime::conv2d(op.desc);
  const auto* x = static_cast<const T*>(memory[0]);
  const auto* weight = static_cast<const T*>(memory[1]);
  const auto* bias = static_cast<const T*>(op.operands[2].present ? memory[2] : nullptr);
  auto* y = static_cast<T*>(memory[3]);
  auto* sum = static_cast<double*>(work);
  const std::int64_t inputs = c.c / c.groups, outputs = c.o / c.groups, plane = c.oh * c.ow;
  for (std::int64_t n = 0; n < c.n; ++n) {
    for (std::int64_t o = 0; o < c.o; ++o) {
      std::fill_n(sum, plane, bias ? static_cast<double>(bias[o]) : 0.0);
      for (std::int64_t k = 0; k < inputs; ++k) {
        const T* image = x + (n * c.c + o / outputs * inputs + k) * c.h * c.w;
        const T* taps = weight + (o * inputs + k) * c.kh * c.kw;
        for (std::int64_t t = 0; t < c.kh * c.kw; ++t) {
          const auto tap = static_cast<double>(taps[t]);
          forRows(c, t / c.kw, t % c.kw, [&](std::int64_t ih, std::int64_t i, Range columns, std::int64_t shift) {
            const T* in = image + ih * c.w + shift;
            double* out = sum + i * c.ow;
            for (std::int64_t j = columns.begin; j < columns.end; ++j) out[j] += tap * static_cast<double>(in[j * c.strideW]);
          });
        }
      }
      std::copy_n(sum, plane, y + (n * c.o + o) * plane);
    }
  }
  return TBEM_OK;
}

template <class T>
tbem_status conv2dInputGradient(const Op& op, void* const* memory, void* work, const double*) {
  const Conv2d c = runtime::conv2d(op.desc);
  const auto* dy = static_cast<const T*>(memory[0]);
  const auto* weight = static_cast<const T*>(memory[1]);
  auto* dx = static_cast<T*>(memory[2]);
  auto* sum = static_cast<double*>(work);
  const std::int64_t inputs = c.c / c.groups, outputs = c.o / c.groups, plane = c.h * c.w;
  for (std::int64_t n = 0; n < c.n; ++n) {
    for (std::int64_t k = 0; k < c.c; ++k) {
      std::fill_n(sum, plane, 0.0);
      for (std::int64_t o = k / inputs * outputs; o < (k / inputs + 1) * outputs; ++o) {
        const T* result = dy + (n * c.o + o) * c.oh * c.ow;
        const T* taps = weight + (o * inputs + k % inputs) * c.kh * c.kw;
        for (std::int64_t t = 0; t < c.kh * c.kw; ++t) {
          const auto tap = static_cast<double>(taps[t]);
          forRows(c, t / c.kw, t % c.kw, [&](std::int64_t ih, std::int64_t i, Range columns, std::int64_t shift) {
            double* out = sum + ih * c.w + shift;
            const T* in = result + i * c.ow;
            for (std::int64_t j = columns.begin; j < columns.end; ++j) out[j * c.strideW] += tap * static_cast<double>(in[j]);
          });
        }
      }
      std::copy_n(sum, plane, dx + (n * c.c + k) * plane);
    }
  }
  return TBEM_OK;
}

template <class T>
tbem_status conv2dWeightGradient(const Op& op, void* const* memory, void*, const double*) {
  const Conv2d c = runtime::conv2d(op.desc);
  const auto* x = static_cast<const T*>(memory[0]);
  const auto* dy = static_cast<const T*>(memory[1]);
  auto* dweight = static_cast<T*>(memory[2]);
  const std::int64_t inputs = c.c / c.groups, outputs = c.o / c.groups;
  for (std::int64_t o = 0; o < c.o; ++o) {
    for (std::int64_t k = 0; k < inputs; ++k) {
      for (std::int64_t t = 0; t < c.kh * c.kw; ++t) {
        double sum = 0;
        for (std::int64_t n = 0; n < c.n; ++n) {
          const T* image = x + (n * c.c + o / outputs * inputs + k) * c.h * c.w;
          const T* result = dy + (n * c.o + o) * c.oh * c.ow;
          forRows(c, t / c.kw, t % c.kw, [&](std::int64_t ih, std::int64_t i, Range columns, std::int64_t shift) {
            sum += dot(image + ih * c.w + shift + columns.begin * c.strideW, c.strideW, result + i * c.ow + columns.begin,
                       columns.end - columns.begin);
          });
        }
        dweight[(o * inputs + k) * c.kh * c.kw + t] = static_cast<T>(sum);
      }
    }
  }
  return TBEM_OK;
}

#define TBEM_REF_INSTANCES(T)                                                                 \
  template tbem_status conv2d<T>(const Op&, void* const*, void*, const double*);              \
  template tbem_status conv2dInputGradient<T>(const Op&, void* const*, void*, const double*); \
  template tbem_status conv2dWeightGradient<T>(const Op&, void* const*, void*, const double*);
TBEM_REF_INSTANCES(float)
TBEM_REF_INSTANCES(double)

}  // namespace tbem::ref
