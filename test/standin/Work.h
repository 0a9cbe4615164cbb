// What the stand-ins compute, an element of the result at a time: the same for the host and, compiled by nvcc, for a card.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define TBEM_STANDIN_CODE inline __host__ __device__
#else
#define TBEM_STANDIN_CODE inline
#endif

namespace tbem::standin {

/// Of elements in memory; those of Tf32 are f32 of which products take the first 10 bits of significand.
enum class Type : std::int32_t { F32, Bf16, Tf32, F16 };

TBEM_STANDIN_CODE float roundedTo(float value, unsigned dropped) {
  std::uint32_t whole = 0;
  memcpy(&whole, &value, sizeof whole);
  if ((whole & 0x7F800000U) != 0x7F800000U) whole += (1U << (dropped - 1U)) - 1U + (whole >> dropped & 1U);
  whole &= ~((1U << dropped) - 1U);
  memcpy(&value, &whole, sizeof value);
  return value;
}

/// f16 has 5 bits of exponent and 10 of significand; numbers below 2^-14 count in units of 2^-24.
TBEM_STANDIN_CODE float fromHalf(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> 10U & 31U, fraction = bits & 1023U;
  const std::uint32_t whole = exponent == 31U ? 0x7F800000U | fraction << 13U : (exponent + 112U) << 23U | fraction << 13U;
  float value = 0;
  memcpy(&value, &whole, sizeof value);
  if (exponent == 0) value = static_cast<float>(fraction) * 5.9604644775390625e-8F;
  return (bits & 0x8000U) != 0 ? -value : value;
}
TBEM_STANDIN_CODE std::uint32_t toHalf(float value) {
  std::uint32_t whole = 0;
  memcpy(&whole, &value, sizeof whole);
  const std::uint32_t sign = whole >> 16U & 0x8000U;
  const float magnitude = fabsf(value);
  if (value != value) return sign | 0x7E00U;
  if (magnitude >= 65520.0F) return sign | 0x7C00U;
  if (magnitude < 6.103515625e-5F) return sign | static_cast<std::uint32_t>(rintf(magnitude * 16777216.0F));
  const float near = roundedTo(magnitude, 13);
  memcpy(&whole, &near, sizeof whole);
  return sign | (whole - 0x38000000U) >> 13U;
}

/// Element `at` of an array, and writing it: bf16 is the upper half of a f32, rounded to nearest, ties to even.
TBEM_STANDIN_CODE float valueAt(const void* first, Type type, std::int64_t at) {
  if (type == Type::F32) return static_cast<const float*>(first)[at];
  if (type == Type::Tf32) return roundedTo(static_cast<const float*>(first)[at], 13);
  if (type == Type::F16) return fromHalf(static_cast<const std::uint16_t*>(first)[at]);
  const std::uint32_t whole = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(first)[at]) << 16U;
  float value = 0;
  memcpy(&value, &whole, sizeof value);
  return value;
}
TBEM_STANDIN_CODE void setAt(void* first, Type type, std::int64_t at, float value) {
  if (type == Type::F16) {
    static_cast<std::uint16_t*>(first)[at] = static_cast<std::uint16_t>(toHalf(value));
    return;
  }
  if (type != Type::Bf16) {
    static_cast<float*>(first)[at] = value;
    return;
  }
  std::uint32_t whole = 0;
  memcpy(&whole, &value, sizeof whole);
  const bool nan = (whole & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t near = nan ? whole | 0x400000U : whole + 0x7FFFU + (whole >> 16U & 1U);
  static_cast<std::uint16_t*>(first)[at] = static_cast<std::uint16_t>(near >> 16U);
}

/// A matrix with columns innermost outside, as BLAS has it: element (row, column) lies at column * leading + row.
struct Factor {
  const void* first;
  Type type;
  std::int64_t leading, stride;  ///< stride: to the next of a batch
  std::int32_t transposed;
};

/// d = op(a) op(b) + beta d + bias, the bias of a row the same in all its columns; what d held is not read where beta is 0.
struct ProductWork {
  Factor a, b;
  const void* bias;  ///< null: none; of the result's type
  void* d;
  Type type;  ///< of the result
  std::int64_t leading, stride;
  std::int64_t rows, columns, sums, batch;
  float beta;
};

TBEM_STANDIN_CODE std::int64_t countOf(const ProductWork& work) { return work.rows * work.columns * work.batch; }

TBEM_STANDIN_CODE float elementOf(const Factor& factor, std::int64_t batch, std::int64_t row, std::int64_t column) {
  const std::int64_t place = factor.transposed != 0 ? row * factor.leading + column : column * factor.leading + row;
  return valueAt(factor.first, factor.type, batch * factor.stride + place);
}

TBEM_STANDIN_CODE void compute(const ProductWork& work, std::int64_t at) {
  const std::int64_t row = at % work.rows, column = at / work.rows % work.columns, batch = at / work.rows / work.columns;
  float sum = 0;
  for (std::int64_t k = 0; k < work.sums; ++k) sum += elementOf(work.a, batch, row, k) * elementOf(work.b, batch, k, column);
  if (work.bias != nullptr) sum += valueAt(work.bias, work.type, row);
  const std::int64_t place = batch * work.stride + column * work.leading + row;
  setAt(work.d, work.type, place, work.beta != 0 ? sum + work.beta * valueAt(work.d, work.type, place) : sum);
}

struct Tensor {
  void* first;
  Type type;
  std::int64_t dims[4], strides[4];
};

TBEM_STANDIN_CODE std::int64_t placeOf(const Tensor& t, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  return i * t.strides[0] + j * t.strides[1] + k * t.strides[2] + l * t.strides[3];
}
TBEM_STANDIN_CODE float elementOf(const Tensor& t, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  return valueAt(t.first, t.type, placeOf(t, i, j, k, l));
}

enum class Wanted : std::int32_t { Y, X, W };

/// A cross-correlation y = x * w, or its gradient for x or for w, from the two others.
struct ConvWork {
  Wanted wanted;
  Tensor x, w, y;
  std::int64_t dilation[2], stride[2], before[2];
};

TBEM_STANDIN_CODE const Tensor& resultOf(const ConvWork& work) {
  return work.wanted == Wanted::Y ? work.y : work.wanted == Wanted::X ? work.x : work.w;
}
TBEM_STANDIN_CODE std::int64_t countOf(const ConvWork& work) {
  const Tensor& result = resultOf(work);
  return result.dims[0] * result.dims[1] * result.dims[2] * result.dims[3];
}

/// The place along an axis of x that tap `tap` reads for place `out` of y, or -1.
TBEM_STANDIN_CODE std::int64_t placeIn(const ConvWork& work, int axis, std::int64_t out, std::int64_t tap) {
  const std::int64_t place = out * work.stride[axis] - work.before[axis] + tap * work.dilation[axis];
  return place < work.x.dims[2 + axis] ? place : -1;
}

/// The place along an axis of y to which place `in` of x goes through tap `tap`, or -1.
TBEM_STANDIN_CODE std::int64_t placeOut(const ConvWork& work, int axis, std::int64_t in, std::int64_t tap) {
  const std::int64_t reached = in + work.before[axis] - tap * work.dilation[axis];
  if (reached < 0 || reached % work.stride[axis] != 0) return -1;
  return reached / work.stride[axis] < work.y.dims[2 + axis] ? reached / work.stride[axis] : -1;
}

TBEM_STANDIN_CODE float sumOfY(const ConvWork& work, std::int64_t n, std::int64_t o, std::int64_t i, std::int64_t j) {
  const std::int64_t group = o / (work.y.dims[1] / (work.x.dims[1] / work.w.dims[1]));
  float sum = 0;
  for (std::int64_t k = 0; k < work.w.dims[2]; ++k) {
    for (std::int64_t l = 0; l < work.w.dims[3]; ++l) {
      const std::int64_t row = placeIn(work, 0, i, k), column = placeIn(work, 1, j, l);
      for (std::int64_t c = 0; row >= 0 && column >= 0 && c < work.w.dims[1]; ++c)
        sum += elementOf(work.x, n, group * work.w.dims[1] + c, row, column) * elementOf(work.w, o, c, k, l);
    }
  }
  return sum;
}

TBEM_STANDIN_CODE float sumOfX(const ConvWork& work, std::int64_t n, std::int64_t c, std::int64_t row, std::int64_t column) {
  const std::int64_t outs = work.y.dims[1] / (work.x.dims[1] / work.w.dims[1]), group = c / work.w.dims[1];
  float sum = 0;
  for (std::int64_t k = 0; k < work.w.dims[2]; ++k) {
    for (std::int64_t l = 0; l < work.w.dims[3]; ++l) {
      const std::int64_t i = placeOut(work, 0, row, k), j = placeOut(work, 1, column, l);
      for (std::int64_t o = group * outs; i >= 0 && j >= 0 && o < (group + 1) * outs; ++o)
        sum += elementOf(work.y, n, o, i, j) * elementOf(work.w, o, c % work.w.dims[1], k, l);
    }
  }
  return sum;
}

TBEM_STANDIN_CODE float sumOfW(const ConvWork& work, std::int64_t o, std::int64_t c, std::int64_t k, std::int64_t l) {
  const std::int64_t group = o / (work.y.dims[1] / (work.x.dims[1] / work.w.dims[1]));
  float sum = 0;
  for (std::int64_t i = 0; i < work.y.dims[2]; ++i) {
    for (std::int64_t j = 0; j < work.y.dims[3]; ++j) {
      const std::int64_t row = placeIn(work, 0, i, k), column = placeIn(work, 1, j, l);
      for (std::int64_t n = 0; row >= 0 && column >= 0 && n < work.x.dims[0]; ++n)
        sum += elementOf(work.x, n, group * work.w.dims[1] + c, row, column) * elementOf(work.y, n, o, i, j);
    }
  }
  return sum;
}

TBEM_STANDIN_CODE void compute(const ConvWork& work, std::int64_t at) {
  const Tensor& result = resultOf(work);
  const std::int64_t l = at % result.dims[3], k = at / result.dims[3] % result.dims[2];
  const std::int64_t j = at / result.dims[3] / result.dims[2] % result.dims[1];
  const std::int64_t i = at / result.dims[3] / result.dims[2] / result.dims[1];
  const float sum = work.wanted == Wanted::Y   ? sumOfY(work, i, j, k, l)
                    : work.wanted == Wanted::X ? sumOfX(work, i, j, k, l)
                                               : sumOfW(work, i, j, k, l);
  setAt(result.first, result.type, placeOf(result, i, j, k, l), sum);
}

/// What an operation of a graph does for an element of its result.
enum class Step : std::int32_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  Exponential,
  Logarithm,
  Index,    ///< the number along an axis
  NotLess,  ///< 1 or 0
  Select,   ///< x where t is not 0, else b
  Sum,      ///< over x's last dimension, as the next
  Largest,
  Product,  ///< of the matrices that the last two dimensions of x and b are
  Same      ///< what lies at the same place in memory
};

/// A tensor, whose dimensions of 1 are repeated, or a number where it has no memory.
struct Operand {
  Tensor tensor;
  float value;
};

/// y = step(x, b, t), of which it reads as many as it needs.
struct StepWork {
  Step step;
  std::int32_t axis;
  Operand x, b, t;
  Tensor y;
};

TBEM_STANDIN_CODE std::int64_t countOf(const StepWork& work) {
  return work.y.dims[0] * work.y.dims[1] * work.y.dims[2] * work.y.dims[3];
}

TBEM_STANDIN_CODE float elementOf(const Operand& o, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  if (o.tensor.first == nullptr) return o.value;
  const auto* const dims = o.tensor.dims;
  return elementOf(o.tensor, dims[0] == 1 ? 0 : i, dims[1] == 1 ? 0 : j, dims[2] == 1 ? 0 : k, dims[3] == 1 ? 0 : l);
}

TBEM_STANDIN_CODE float joined(const StepWork& work, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  const std::int64_t count = work.x.tensor.dims[3];
  float result = work.step == Step::Largest ? elementOf(work.x, i, j, k, 0) : 0;
  for (std::int64_t n = 0; n < count; ++n) {
    const float x = elementOf(work.x, i, j, k, n);
    if (work.step == Step::Largest) {
      result = x > result ? x : result;
    } else {
      result += work.step == Step::Product ? x * elementOf(work.b, i, j, n, l) : x;
    }
  }
  return result;
}

TBEM_STANDIN_CODE float valueOf(const StepWork& work, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  const float x = work.step == Step::Sum || work.step == Step::Largest || work.step == Step::Product
                      ? joined(work, i, j, k, l)
                      : elementOf(work.x, i, j, k, l);
  switch (work.step) {
    case Step::Add:
      return x + elementOf(work.b, i, j, k, l);
    case Step::Subtract:
      return x - elementOf(work.b, i, j, k, l);
    case Step::Multiply:
      return x * elementOf(work.b, i, j, k, l);
    case Step::Divide:
      return x / elementOf(work.b, i, j, k, l);
    case Step::Exponential:
      return expf(x);
    case Step::Logarithm:
      return logf(x);
    case Step::Index:
      return static_cast<float>(work.axis == 2 ? k : l);
    case Step::NotLess:
      return x >= elementOf(work.b, i, j, k, l) ? 1.0F : 0.0F;
    case Step::Select:
      return elementOf(work.t, i, j, k, l) != 0 ? x : elementOf(work.b, i, j, k, l);
    default:
      return x;
  }
}

TBEM_STANDIN_CODE void compute(const StepWork& work, std::int64_t at) {
  if (work.step == Step::Same) {
    setAt(work.y.first, work.y.type, at, valueAt(work.x.tensor.first, work.x.tensor.type, at));
    return;
  }
  const std::int64_t l = at % work.y.dims[3], k = at / work.y.dims[3] % work.y.dims[2];
  const std::int64_t j = at / work.y.dims[3] / work.y.dims[2] % work.y.dims[1];
  const std::int64_t i = at / work.y.dims[3] / work.y.dims[2] / work.y.dims[1];
  setAt(work.y.first, work.y.type, placeOf(work.y, i, j, k, l), valueOf(work, i, j, k, l));
}

}  // namespace tbem::standin
