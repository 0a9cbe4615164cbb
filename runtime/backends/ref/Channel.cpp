// Per-channel statistics of batch normalisation and the sums of its gradient: Ioffe & Szegedy 2015 (arXiv 1502.03167), section 3.
#include "runtime/backends/ref/Kernels.h"

#include <cmath>

namespace tbem::ref {
namespace {

struct Shape {
  std::int64_t n, c, plane;
};

Shape shapeOf(const tbem_operand& x) { return {x.dims[0], x.dims[1], runtime::elementCount(x) / (x.dims[0] * x.dims[1])}; }

}  // namespace

template <class T>
tbem_status channelMoments(const Op& op, void* const* memory, void*, const double*) {
  const Shape s = shapeOf(op.operands[0]);
  const auto* x = static_cast<const T*>(memory[0]);
  auto* mean = static_cast<T*>(memory[1]);
  auto* variance = static_cast<T*>(memory[2]);
  const auto count = static_cast<double>(s.n * s.plane);
  for (std::int64_t c = 0; c < s.c; ++c) {
    double sum = 0;
    for (std::int64_t n = 0; n < s.n; ++n) {
      const T* plane = x + (n * s.c + c) * s.plane;
      for (std::int64_t i = 0; i < s.plane; ++i) sum += static_cast<double>(plane[i]);
    }
    const double centre = sum / count;
    double squares = 0;
    for (std::int64_t n = 0; n < s.n; ++n) {
      const T* plane = x + (n * s.c + c) * s.plane;
      for (std::int64_t i = 0; i < s.plane; ++i) {
        const double distance = static_cast<double>(plane[i]) - centre;
        squares += distance * distance;
      }
    }
    mean[c] = static_cast<T>(centre);
    variance[c] = static_cast<T>(squares / count);
  }
  return TBEM_OK;
}

template <class T>
tbem_status channelGradientSums(const Op& op, void* const* memory, void*, const double* scalars) {
  const Shape s = shapeOf(op.operands[0]);
  const auto* dy = static_cast<const T*>(memory[0]);
  const auto* x = static_cast<const T*>(memory[1]);
  const auto* mean = static_cast<const T*>(memory[2]);
  const auto* variance = static_cast<const T*>(memory[3]);
  auto* dweight = static_cast<T*>(memory[4]);
  auto* dbias = static_cast<T*>(memory[5]);
  for (std::int64_t c = 0; c < s.c; ++c) {
    const auto centre = static_cast<double>(mean[c]);
    double sum = 0, product = 0;
    for (std::int64_t n = 0; n < s.n; ++n) {
      const std::int64_t at = (n * s.c + c) * s.plane;
      for (std::int64_t i = at; i < at + s.plane; ++i) {
        sum += static_cast<double>(dy[i]);
        product += static_cast<double>(dy[i]) * (static_cast<double>(x[i]) - centre);
      }
    }
    dweight[c] = static_cast<T>(product / std::sqrt(static_cast<double>(variance[c]) + scalars[0]));
    dbias[c] = static_cast<T>(sum);
  }
  return TBEM_OK;
}

#define TBEM_REF_INSTANCES(T)                                                            \
  template tbem_status channelMoments<T>(const Op&, void* const*, void*, const double*); \
  template tbem_status channelGradientSums<T>(const Op&, void* const*, void*, const double*);
TBEM_REF_INSTANCES(float)
TBEM_REF_INSTANCES(double)

}  // namespace tbem::ref
