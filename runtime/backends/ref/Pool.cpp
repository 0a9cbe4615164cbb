// Pooling over windows and over adaptive bins.
#include "runtime/backends/ref/Kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbem::ref {
namespace {

using runtime::Pool2d;

/// Rows and columns of the image that result (i, j) covers, and what an average divides by.
struct Window {
  std::int64_t top, bottom, left, right;
  double divisor;
};

Window windowOf(const Pool2d& p, std::int64_t i, std::int64_t j) {
  Window w{};
  if (p.kh == 0) {  // adaptive: bin i of n over length l is floor(i l / n) .. ceil((i + 1) l / n)
    w = {i * p.h / p.oh, ((i + 1) * p.h + p.oh - 1) / p.oh, j * p.w / p.ow, ((j + 1) * p.w + p.ow - 1) / p.ow, 0};
  } else {
    const std::int64_t top = i * p.strideH - p.top, left = j * p.strideW - p.left;
    w = {std::max<std::int64_t>(top, 0), std::min(top + p.kh, p.h), std::max<std::int64_t>(left, 0), std::min(left + p.kw, p.w),
         0};
  }
  const std::int64_t inside = std::max<std::int64_t>(w.bottom - w.top, 0) * std::max<std::int64_t>(w.right - w.left, 0);
  w.divisor = static_cast<double>(p.includePad ? p.kh * p.kw : std::max<std::int64_t>(inside, 1));
  return w;
}

/// Position of the first maximum of the window, -1 where it holds no element. A NaN counts as larger than any number.
template <class T>
std::int64_t firstMaximum(const T* image, const Pool2d& p, const Window& w) {
  std::int64_t at = -1;
  for (std::int64_t r = w.top; r < w.bottom; ++r) {
    for (std::int64_t c = w.left; c < w.right; ++c) {
      const std::int64_t here = r * p.w + c;
      if (at < 0 || image[here] > image[at] || (std::isnan(image[here]) && !std::isnan(image[at]))) at = here;
    }
  }
  return at;
}

/// Calls result(image plane number, result plane number + (i, j) position, window) over everything.
template <class Use>
void forWindows(const Pool2d& p, Use use) {
  for (std::int64_t plane = 0; plane < p.n * p.c; ++plane) {
    for (std::int64_t i = 0; i < p.oh; ++i) {
      for (std::int64_t j = 0; j < p.ow; ++j) use(plane * p.h * p.w, (plane * p.oh + i) * p.ow + j, windowOf(p, i, j));
    }
  }
}

}  // namespace

template <class T>
tbem_status maxPool(const Op& op, void* const* memory, void*, const double*) {
  const Pool2d p = runtime::pool2d(op.desc);
  const auto* x = static_cast<const T*>(memory[0]);
  auto* y = static_cast<T*>(memory[1]);
  forWindows(p, [&](std::int64_t plane, std::int64_t result, const Window& w) {
    const std::int64_t at = firstMaximum(x + plane, p, w);
    y[result] = at < 0 ? -std::numeric_limits<T>::infinity() : x[plane + at];
  });
  return TBEM_OK;
}

template <class T>
tbem_status maxPoolGradient(const Op& op, void* const* memory, void* work, const double*) {
  const Pool2d p = runtime::pool2d(op.desc);
  const auto* dy = static_cast<const T*>(memory[0]);
  const auto* x = static_cast<const T*>(memory[1]);
  auto* dx = static_cast<T*>(memory[2]);
  auto* sum = static_cast<double*>(work);
  const std::int64_t size = p.n * p.c * p.h * p.w;
  std::fill_n(sum, size, 0.0);
  forWindows(p, [&](std::int64_t plane, std::int64_t result, const Window& w) {
    const std::int64_t at = firstMaximum(x + plane, p, w);
    if (at >= 0) sum[plane + at] += static_cast<double>(dy[result]);
  });
  std::copy_n(sum, size, dx);
  return TBEM_OK;
}

template <class T>
tbem_status avgPool(const Op& op, void* const* memory, void*, const double*) {
  const Pool2d p = runtime::pool2d(op.desc);
  const auto* x = static_cast<const T*>(memory[0]);
  auto* y = static_cast<T*>(memory[1]);
  forWindows(p, [&](std::int64_t plane, std::int64_t result, const Window& w) {
    double sum = 0;
    for (std::int64_t r = w.top; r < w.bottom; ++r) {
      for (std::int64_t c = w.left; c < w.right; ++c) sum += static_cast<double>(x[plane + r * p.w + c]);
    }
    y[result] = static_cast<T>(sum / w.divisor);
  });
  return TBEM_OK;
}

template <class T>
tbem_status avgPoolGradient(const Op& op, void* const* memory, void* work, const double*) {
  const Pool2d p = runtime::pool2d(op.desc);
  const auto* dy = static_cast<const T*>(memory[0]);
  auto* dx = static_cast<T*>(memory[1]);
  auto* sum = static_cast<double*>(work);
  const std::int64_t size = p.n * p.c * p.h * p.w;
  std::fill_n(sum, size, 0.0);
  forWindows(p, [&](std::int64_t plane, std::int64_t result, const Window& w) {
    const double share = static_cast<double>(dy[result]) / w.divisor;
    for (std::int64_t r = w.top; r < w.bottom; ++r) {
      for (std::int64_t c = w.left; c < w.right; ++c) sum[plane + r * p.w + c] += share;
    }
  });
  std::copy_n(sum, size, dx);
  return TBEM_OK;
}

#define TBEM_REF_INSTANCES(T)                                                             \
  template tbem_status maxPool<T>(const Op&, void* const*, void*, const double*);         \
  template tbem_status maxPoolGradient<T>(const Op&, void* const*, void*, const double*); \
  template tbem_status avgPool<T>(const Op&, void* const*, void*, const double*);         \
  template tbem_status avgPoolGradient<T>(const Op&, void* const*, void*, const double*);
TBEM_REF_INSTANCES(float)
TBEM_REF_INSTANCES(double)

}  // namespace tbem::ref
