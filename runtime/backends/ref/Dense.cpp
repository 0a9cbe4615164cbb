// Matrix products: the dense layer with its gradients, and the batched product.
#include "runtime/backends/ref/Kernels.h"

namespace tbem::ref {
namespace {

/// A matrix seen through two strides, so that a transposed one needs no copy.
template <class T>
struct View {
  const T* data;
  std::int64_t rowStride, columnStride;
};

struct Sizes {
  std::int64_t m, k, n;
};

/// y[m, n] = start + a[m, k] b[k, n], each element one sum in f64. `start`: per column, or null.
template <class T>
void product(View<T> a, View<T> b, const T* start, T* y, Sizes sizes) {
  const auto [m, k, n] = sizes;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = start ? static_cast<double>(start[j]) : 0.0;
      const T* left = a.data + i * a.rowStride;
      const T* right = b.data + j * b.columnStride;
      for (std::int64_t t = 0; t < k; ++t) {
        sum += static_cast<double>(left[t * a.columnStride]) * static_cast<double>(right[t * b.rowStride]);
      }
      y[i * n + j] = static_cast<T>(sum);
    }
  }
}

}  // namespace

template <class T>
tbem_status dense(const Op& op, void* const* memory, void*, const double*) {
  const runtime::Dense d = runtime::dense(op.desc);
  const auto* bias = static_cast<const T*>(op.operands[2].present ? memory[2] : nullptr);
  product<T>({static_cast<const T*>(memory[0]), d.in, 1}, {static_cast<const T*>(memory[1]), 1, d.in}, bias,
             static_cast<T*>(memory[3]), {d.rows, d.in, d.out});
  return TBEM_OK;
}

template <class T>
tbem_status denseInputGradient(const Op& op, void* const* memory, void*, const double*) {
  const runtime::Dense d = runtime::dense(op.desc);
  product<T>({static_cast<const T*>(memory[0]), d.out, 1}, {static_cast<const T*>(memory[1]), d.in, 1}, nullptr,
             static_cast<T*>(memory[2]), {d.rows, d.out, d.in});
  return TBEM_OK;
}

template <class T>
tbem_status denseWeightGradient(const Op& op, void* const* memory, void*, const double*) {
  const runtime::Dense d = runtime::dense(op.desc);
  product<T>({static_cast<const T*>(memory[1]), 1, d.out}, {static_cast<const T*>(memory[0]), d.in, 1}, nullptr,
             static_cast<T*>(memory[2]), {d.out, d.rows, d.in});
  return TBEM_OK;
}

/// The number of the matrix of x that matrix `s` of the result is made from.
static std::int64_t matrixOf(const tbem_operand& x, const tbem_operand& result, std::int64_t s) {
  std::int64_t at = 0, scale = 1;
  for (int d = result.rank - 2, k = x.rank - 2; d-- > 0 && k-- > 0; s /= result.dims[d]) {
    at += x.dims[k] == 1 ? 0 : s % result.dims[d] * scale;
    scale *= x.dims[k];
  }
  return at;
}

template <class T>
tbem_status matmul(const Op& op, void* const* memory, void*, const double*) {
  const runtime::Matmul p = runtime::matmul(op.desc);
  const auto* a = static_cast<const T*>(memory[0]);
  const auto* b = static_cast<const T*>(memory[1]);
  auto* y = static_cast<T*>(memory[2]);
  const tbem_operand& result = op.operands[2];
  std::int64_t batch = 1;
  for (int d = 0; d < p.lead; ++d) batch *= result.dims[d];
  for (std::int64_t s = 0; s < batch; ++s) {
    const T* const x = a + matrixOf(op.operands[0], result, s) * p.m * p.k;
    const T* const z = b + matrixOf(op.operands[1], result, s) * p.k * p.n;
    const View<T> left{x, p.transposeA ? 1 : p.k, p.transposeA ? p.m : 1};
    const View<T> right{z, p.transposeB ? 1 : p.n, p.transposeB ? p.k : 1};
    product<T>(left, right, nullptr, y + s * p.m * p.n, {p.m, p.k, p.n});
  }
  return TBEM_OK;
}

#define TBEM_REF_INSTANCES(T)                                                                 \
  template tbem_status dense<T>(const Op&, void* const*, void*, const double*);               \
  template tbem_status denseInputGradient<T>(const Op&, void* const*, void*, const double*);  \
  template tbem_status denseWeightGradient<T>(const Op&, void* const*, void*, const double*); \
  template tbem_status matmul<T>(const Op&, void* const*, void*, const double*);
TBEM_REF_INSTANCES(float)
TBEM_REF_INSTANCES(double)

}  // namespace tbem::ref
