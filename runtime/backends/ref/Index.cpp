// Operators that read or make numbers of elements (gather, its gradient, arg_max), and tables of given values.
#include "runtime/backends/ref/Kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::ref {
namespace {

using runtime::Lines;
using runtime::linesAlong;

tbem_status checkIndex(const std::int64_t* index, std::int64_t count, std::int64_t length) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (index[i] < 0 || index[i] >= length)
      return fail(TBEM_FAILED, fmt::format("gather: index {} at position {} is not in 0..{}", index[i], i, length - 1));
  }
  return TBEM_OK;
}

}  // namespace

template <class T>
tbem_status gather(const Op& op, void* const* memory, void*, const double*) {
  const Lines x = linesAlong(op.operands[0], op.attributes[0]);
  const std::int64_t count = runtime::elementCount(op.operands[1]);
  const auto* index = static_cast<const std::int64_t*>(memory[1]);
  if (const tbem_status wrong = checkIndex(index, count, x.length)) return wrong;
  const auto* from = static_cast<const T*>(memory[0]);
  auto* to = static_cast<T*>(memory[2]);
  for (std::int64_t o = 0; o < x.outer; ++o) {
    for (std::int64_t i = 0; i < count; ++i) to = std::copy_n(from + (o * x.length + index[i]) * x.inner, x.inner, to);
  }
  return TBEM_OK;
}

template <class T>
tbem_status gatherGradient(const Op& op, void* const* memory, void*, const double*) {
  const Lines dx = linesAlong(op.operands[2], op.attributes[0]);
  const std::int64_t count = runtime::elementCount(op.operands[1]);
  const auto* index = static_cast<const std::int64_t*>(memory[1]);
  if (const tbem_status wrong = checkIndex(index, count, dx.length)) return wrong;
  const auto* from = static_cast<const T*>(memory[0]);
  auto* to = static_cast<T*>(memory[2]);
  std::fill_n(to, dx.outer * dx.length * dx.inner, T(0));
  for (std::int64_t o = 0; o < dx.outer; ++o) {
    for (std::int64_t i = 0; i < count; ++i) {
      T* row = to + (o * dx.length + index[i]) * dx.inner;
      for (std::int64_t k = 0; k < dx.inner; ++k) row[k] += *from++;
    }
  }
  return TBEM_OK;
}

template <class T>
tbem_status argMax(const Op& op, void* const* memory, void*, const double*) {
  const Lines x = linesAlong(op.operands[0], op.attributes[0]);
  const auto* from = static_cast<const T*>(memory[0]);
  auto* to = static_cast<std::int64_t*>(memory[1]);
  for (std::int64_t i = 0; i < x.outer * x.inner; ++i) {
    const T* line = from + i / x.inner * x.length * x.inner + i % x.inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < x.length && !std::isnan(line[best * x.inner]); ++k) {
      const T here = line[k * x.inner];
      if (here > line[best * x.inner] || std::isnan(here)) best = k;
    }
    to[i] = best;
  }
  return TBEM_OK;
}

template <class T>
tbem_status constant(const Op& op, void* const* memory, void*, const double* scalars) {
  std::transform(scalars, scalars + op.operands[0].dims[0], static_cast<T*>(memory[0]),
                 [](double v) { return static_cast<T>(v); });
  return TBEM_OK;
}

template tbem_status gather<std::uint8_t>(const Op&, void* const*, void*, const double*);
template tbem_status gather<std::uint16_t>(const Op&, void* const*, void*, const double*);
template tbem_status gather<std::uint32_t>(const Op&, void* const*, void*, const double*);
template tbem_status gather<std::uint64_t>(const Op&, void* const*, void*, const double*);
template tbem_status gatherGradient<float>(const Op&, void* const*, void*, const double*);
template tbem_status gatherGradient<double>(const Op&, void* const*, void*, const double*);
template tbem_status argMax<float>(const Op&, void* const*, void*, const double*);
template tbem_status argMax<double>(const Op&, void* const*, void*, const double*);
template tbem_status constant<float>(const Op&, void* const*, void*, const double*);
template tbem_status constant<double>(const Op&, void* const*, void*, const double*);

}  // namespace tbem::ref
