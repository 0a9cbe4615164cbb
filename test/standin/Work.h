// What the stand-ins compute, an element of the result at a time: the same for the host and, compiled by nvcc, for a card.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TBEM_STANDIN_CODE inline __host__ __device__
#else
#define TBEM_STANDIN_CODE inline
#endif

namespace tbem::standin {

/// A matrix with columns innermost outside, as BLAS has it: element (row, column) lies at column * leading + row.
struct Factor {
  const float* first;
  std::int64_t leading, stride;  ///< stride: to the next of a batch
  std::int32_t transposed;
};

/// d = op(a) op(b) + beta d + bias, the bias of a row the same in all its columns; what d held is not read where beta is 0.
struct ProductWork {
  Factor a, b;
  const float* bias;  ///< null: none
  float* d;
  std::int64_t leading, stride;
  std::int64_t rows, columns, sums, batch;
  float beta;
};

TBEM_STANDIN_CODE std::int64_t countOf(const ProductWork& work) { return work.rows * work.columns * work.batch; }

TBEM_STANDIN_CODE float elementOf(const Factor& factor, std::int64_t batch, std::int64_t row, std::int64_t column) {
  const float* const matrix = factor.first + batch * factor.stride;
  return factor.transposed != 0 ? matrix[row * factor.leading + column] : matrix[column * factor.leading + row];
}

TBEM_STANDIN_CODE void compute(const ProductWork& work, std::int64_t at) {
  const std::int64_t row = at % work.rows, column = at / work.rows % work.columns, batch = at / work.rows / work.columns;
  float sum = 0;
  for (std::int64_t k = 0; k < work.sums; ++k) sum += elementOf(work.a, batch, row, k) * elementOf(work.b, batch, k, column);
  if (work.bias != nullptr) sum += work.bias[row];
  float& d = work.d[batch * work.stride + column * work.leading + row];
  d = work.beta != 0 ? sum + work.beta * d : sum;
}

struct Tensor {
  float* first;
  std::int64_t dims[4], strides[4];
};

TBEM_STANDIN_CODE float& elementOf(const Tensor& t, std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
  return t.first[i * t.strides[0] + j * t.strides[1] + k * t.strides[2] + l * t.strides[3]];
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
  elementOf(result, i, j, k, l) = work.wanted == Wanted::Y   ? sumOfY(work, i, j, k, l)
                                  : work.wanted == Wanted::X ? sumOfX(work, i, j, k, l)
                                                             : sumOfW(work, i, j, k, l);
}

}  // namespace tbem::standin
