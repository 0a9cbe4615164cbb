// softmax and log_softmax along an axis, and their gradients.
#include "runtime/backends/cuda/kernels/Lines.cuh"

namespace tbem::cuda {
namespace {

template <bool kLogarithm, class Index>
__device__ void softmax(const LineShape<Index>& shape, const float* x, float* y) {
  const Line<Index> line(shape);
  Normaliser::Sum sum = Normaliser::none();
  forElements(shape, line, [&](Index at, Index) { Normaliser::add(sum, x[at]); });
  sum = joinDown<Normaliser>(shape.tile, line.place, sum);
  if (kLogarithm) {
    const float logarithm = Normaliser::logarithm(sum);
    forElements(shape, line, [&](Index at, Index) { y[at] = x[at] - sum.largest - logarithm; });
  } else {
    const auto share = static_cast<float>(1 / sum.exponentials);
    forElements(shape, line, [&](Index at, Index) { y[at] = expf(x[at] - sum.largest) * share; });
  }
}

struct Add {
  static __device__ double join(double a, double b) { return a + b; }
};

template <bool kLogarithm, class Index>
__device__ void gradient(const LineShape<Index>& shape, const float* dy, const float* y, float* dx) {
  const Line<Index> line(shape);
  double sum = 0;
  forElements(shape, line, [&](Index at, Index) {
    sum += kLogarithm ? static_cast<double>(dy[at]) : static_cast<double>(dy[at]) * static_cast<double>(y[at]);
  });
  sum = joinDown<Add>(shape.tile, line.place, sum);
  forElements(shape, line, [&](Index at, Index) {
    const auto own = static_cast<double>(dy[at]);
    dx[at] =
        static_cast<float>(kLogarithm ? own - static_cast<double>(expf(y[at])) * sum : static_cast<double>(y[at]) * (own - sum));
  });
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_SOFTMAX(name, logarithm, bits, Index)                                                                        \
  extern "C" __global__ void tbem_Softmax_##name##_##bits(tbem::cuda::LineShape<Index> shape, const float* x, float* y) { \
    tbem::cuda::softmax<logarithm>(shape, x, y);                                                                          \
  }                                                                                                                       \
  extern "C" __global__ void tbem_Softmax_##name##Gradient_##bits(tbem::cuda::LineShape<Index> shape, const float* dy,    \
                                                                  const float* y, float* dx) {                            \
    tbem::cuda::gradient<logarithm>(shape, dy, y, dx);                                                                    \
  }
TBEM_SOFTMAX(plain, false, 32, std::uint32_t)
TBEM_SOFTMAX(plain, false, 64, std::uint64_t)
TBEM_SOFTMAX(log, true, 32, std::uint32_t)
TBEM_SOFTMAX(log, true, 64, std::uint64_t)
