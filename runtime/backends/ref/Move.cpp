// Operators that move elements and compute nothing: permute, pad, slice, concat, reorder.
#include "runtime/backends/ref/Kernels.h"
#include "runtime/core/NarrowFloat.h"

#include <algorithm>
#include <cstring>

namespace tbem::ref {
namespace {

/// An affine map from the elements of one box to an offset: sum_d i_d * step[d] + start.
struct Walk {
  int rank = 0;
  std::int64_t dims[TBEM_MAX_RANK] = {}, from[TBEM_MAX_RANK] = {}, to[TBEM_MAX_RANK] = {}, fromStart = 0, toStart = 0, count = 1;
};

Walk walkOf(const Op& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  const std::int64_t* a = op.attributes.data();
  const std::int64_t* b = a + 1 + x.rank;
  Walk walk;
  walk.rank = x.rank;
  for (int d = 0; d < x.rank; ++d) {
    walk.from[d] = x.layout.strides[d], walk.to[d] = y.layout.strides[d], walk.dims[d] = y.dims[d];
    if (op.desc.primitive == TBEM_PRIMITIVE_permute) {
      walk.from[d] = x.layout.strides[a[1 + d]];
    } else if (op.desc.primitive == TBEM_PRIMITIVE_slice) {
      walk.fromStart += a[1 + d] * walk.from[d];
      walk.from[d] *= b[1 + d];
    } else {
      walk.dims[d] = x.dims[d];
      walk.toStart += a[1 + d] * walk.to[d];
      walk.to[d] *= b[1 + d] + 1;
    }
    walk.count *= walk.dims[d];
  }
  return walk;
}

template <class From, class To>
void convert(const void* from, void* to, std::int64_t count) {
  const auto* x = static_cast<const From*>(from);
  auto* y = static_cast<To*>(to);
  for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<To>(x[i]);
}

template <class From>
void convertTo(const void* from, void* to, int dtype, std::int64_t count) {
  if (dtype == TBEM_F64) convert<From, double>(from, to, count);
  if (dtype == TBEM_F32) convert<From, float>(from, to, count);
  if (dtype == TBEM_I64) convert<From, std::int64_t>(from, to, count);
  if (dtype == TBEM_I32) convert<From, std::int32_t>(from, to, count);
}

}  // namespace

template <class T>
tbem_status move(const Op& op, void* const* memory, void*, const double*) {
  const Walk walk = walkOf(op);
  const auto* x = static_cast<const T*>(memory[0]) + walk.fromStart;
  auto* y = static_cast<T*>(memory[1]);
  if (op.desc.primitive == TBEM_PRIMITIVE_pad) std::fill_n(y, runtime::elementCount(op.operands[1]), T(0));
  y += walk.toStart;
  for (std::int64_t i = 0; i < walk.count; ++i) {
    std::int64_t from = 0, to = 0, rest = i;
    for (int d = walk.rank; d-- > 0; rest /= walk.dims[d]) {
      from += rest % walk.dims[d] * walk.from[d];
      to += rest % walk.dims[d] * walk.to[d];
    }
    y[to] = x[from];
  }
  return TBEM_OK;
}

template <class T>
tbem_status concat(const Op& op, void* const* memory, void*, const double*) {
  const auto inputs = static_cast<std::size_t>(op.desc.inputs);
  const tbem_operand& y = op.operands[inputs];
  const std::int64_t axis = op.attributes[0];
  std::int64_t before = 1, behind = 1;
  for (std::int64_t d = 0; d < y.rank; ++d) (d < axis ? before : behind) *= d == axis ? 1 : y.dims[d];
  auto* to = static_cast<T*>(memory[inputs]);
  for (std::int64_t i = 0; i < before; ++i) {
    for (std::size_t k = 0; k < inputs; ++k) {
      const std::int64_t count = op.operands[k].dims[axis] * behind;
      to = std::copy_n(static_cast<const T*>(memory[k]) + i * count, count, to);
    }
  }
  return TBEM_OK;
}

tbem_status reorder(const Op& op, void* const* memory, void*, const double*) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  const std::int64_t count = runtime::elementCount(x);
  if (x.dtype == y.dtype) {
    std::memcpy(memory[1], memory[0], static_cast<std::size_t>(count) * runtime::elementBytes(x.dtype));
  } else if (runtime::isNarrow(x.dtype)) {
    runtime::withNarrow(x.dtype, [&](auto narrow) { convert<decltype(narrow), float>(memory[0], memory[1], count); });
  } else if (runtime::isNarrow(y.dtype)) {
    runtime::withNarrow(y.dtype, [&](auto narrow) { convert<float, decltype(narrow)>(memory[0], memory[1], count); });
  } else if (x.dtype == TBEM_F64) {
    convertTo<double>(memory[0], memory[1], y.dtype, count);
  } else if (x.dtype == TBEM_F32) {
    convertTo<float>(memory[0], memory[1], y.dtype, count);
  } else if (x.dtype == TBEM_I64) {
    convertTo<std::int64_t>(memory[0], memory[1], y.dtype, count);
  } else {
    convertTo<std::int32_t>(memory[0], memory[1], y.dtype, count);
  }
  return TBEM_OK;
}

template tbem_status move<std::uint8_t>(const Op&, void* const*, void*, const double*);
template tbem_status move<std::uint16_t>(const Op&, void* const*, void*, const double*);
template tbem_status move<std::uint32_t>(const Op&, void* const*, void*, const double*);
template tbem_status move<std::uint64_t>(const Op&, void* const*, void*, const double*);
template tbem_status concat<std::uint8_t>(const Op&, void* const*, void*, const double*);
template tbem_status concat<std::uint16_t>(const Op&, void* const*, void*, const double*);
template tbem_status concat<std::uint32_t>(const Op&, void* const*, void*, const double*);
template tbem_status concat<std::uint64_t>(const Op&, void* const*, void*, const double*);

}  // namespace tbem::ref
