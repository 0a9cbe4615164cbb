// Sums and maxima over any axes.
#include "runtime/backends/ref/Kernels.h"

#include <cmath>

namespace tbem::ref {
namespace {

/// Some dimensions of x with their strides; walked in row-major order.
struct Axes {
  int rank = 0;
  std::int64_t dims[TBEM_MAX_RANK] = {}, strides[TBEM_MAX_RANK] = {}, count = 1;

  /// Offset of the i-th index combination.
  std::int64_t offset(std::int64_t i) const {
    std::int64_t at = 0;
    for (int d = rank; d-- > 0; i /= dims[d]) at += i % dims[d] * strides[d];
    return at;
  }
};

struct Split {
  Axes kept, reduced;
};

Split split(const tbem_operand& x, const std::int64_t* attributes) {
  bool isReduced[TBEM_MAX_RANK] = {};
  for (int i = 0; i < attributes[0]; ++i) isReduced[attributes[1 + i]] = true;
  Split s;
  for (int d = 0; d < x.rank; ++d) {
    Axes& axes = isReduced[d] ? s.reduced : s.kept;
    axes.dims[axes.rank] = x.dims[d];
    axes.strides[axes.rank++] = x.layout.strides[d];
    axes.count *= x.dims[d];
  }
  return s;
}

}  // namespace

template <class T>
tbem_status reduceSum(const Op& op, void* const* memory, void*, const double*) {
  const Split s = split(op.operands[0], op.attributes.data());
  const auto* x = static_cast<const T*>(memory[0]);
  auto* y = static_cast<T*>(memory[1]);
  for (std::int64_t i = 0; i < s.kept.count; ++i) {
    const T* from = x + s.kept.offset(i);
    double sum = 0;
    for (std::int64_t j = 0; j < s.reduced.count; ++j) sum += static_cast<double>(from[s.reduced.offset(j)]);
    y[i] = static_cast<T>(sum);
  }
  return TBEM_OK;
}

template <class T>
tbem_status sumSquares(const Op& op, void* const* memory, void*, const double*) {
  const auto* x = static_cast<const T*>(memory[0]);
  double sum = 0;
  for (std::int64_t i = 0; i < runtime::elementCount(op.operands[0]); ++i)
    sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  *static_cast<T*>(memory[1]) = static_cast<T>(sum);
  return TBEM_OK;
}

template <class T>
tbem_status reduceMax(const Op& op, void* const* memory, void*, const double*) {
  const Split s = split(op.operands[0], op.attributes.data());
  const auto* x = static_cast<const T*>(memory[0]);
  auto* y = static_cast<T*>(memory[1]);
  for (std::int64_t i = 0; i < s.kept.count; ++i) {
    const T* from = x + s.kept.offset(i);
    T largest = from[0];
    for (std::int64_t j = 1; j < s.reduced.count; ++j) {
      const T value = from[s.reduced.offset(j)];
      if (value > largest || std::isnan(value)) largest = value;
    }
    y[i] = largest;
  }
  return TBEM_OK;
}

template <class T>
tbem_status reduceMaxGradient(const Op& op, void* const* memory, void*, const double*) {
  const Split s = split(op.operands[1], op.attributes.data());
  const auto* dy = static_cast<const T*>(memory[0]);
  const auto* x = static_cast<const T*>(memory[1]);
  const auto* y = static_cast<const T*>(memory[2]);
  auto* dx = static_cast<T*>(memory[3]);
  for (std::int64_t i = 0; i < s.kept.count; ++i) {
    const std::int64_t base = s.kept.offset(i);
    std::int64_t equal = 0;
    for (std::int64_t j = 0; j < s.reduced.count; ++j) equal += x[base + s.reduced.offset(j)] == y[i] ? 1 : 0;
    for (std::int64_t j = 0; j < s.reduced.count; ++j) {
      const std::int64_t at = base + s.reduced.offset(j);
      dx[at] = x[at] == y[i] ? static_cast<T>(static_cast<double>(dy[i]) / static_cast<double>(equal)) : T(0);
    }
  }
  return TBEM_OK;
}

#define TBEM_REF_INSTANCES(T)                                                        \
  template tbem_status sumSquares<T>(const Op&, void* const*, void*, const double*); \
  template tbem_status reduceSum<T>(const Op&, void* const*, void*, const double*);  \
  template tbem_status reduceMax<T>(const Op&, void* const*, void*, const double*);  \
  template tbem_status reduceMaxGradient<T>(const Op&, void* const*, void*, const double*);
TBEM_REF_INSTANCES(float)
TBEM_REF_INSTANCES(double)

}  // namespace tbem::ref
