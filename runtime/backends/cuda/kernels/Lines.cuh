// Lines along an axis, each by the threads down a tile, and what softmax is normalised by.
#pragma once

#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {

/// A line and this thread's part of it.
template <class Index>
struct Line {
  Place place;
  Index number, first;
  bool inside;

  __device__ explicit Line(const LineShape<Index>& shape) : place(shape.tile) {
    number = static_cast<Index>(blockIdx.x) * place.width + place.across;
    inside = number < shape.lines;
    const Index outer = quotient(number, shape.innerOf);
    first = outer * shape.length * shape.inner + (number - outer * shape.inner);
  }
};

/// Calls use(offset, number along the line) for this thread's elements.
template <class Index, class Use>
__device__ void forElements(const LineShape<Index>& shape, const Line<Index>& line, Use use) {
  if (!line.inside) return;
#pragma unroll kUnrolled < Index>
  for (Index k = line.place.down; k < shape.length; k += line.place.depth) use(line.first + k * shape.inner, k);
}

/// The largest value, and the sum of exp(value - largest), in one pass (Milakov & Gimelshein 2018, arXiv 1805.02867); the sum of
/// the values. What is -inf adds nothing: where all are, the sum is 0, and what is made of it a NaN.
struct Normaliser {
  struct Sum {
    double exponentials, values;
    float largest;
  };
  static __device__ Sum none() { return {0, 0, -INFINITY}; }
  static __device__ void add(Sum& sum, float value) {
    sum.values += static_cast<double>(value);
    if (value > sum.largest || isnan(value)) {
      sum.exponentials =
          sum.exponentials * static_cast<double>(expf(sum.largest - value)) + static_cast<double>(expf(value - value));
      sum.largest = value;
    } else if (value > -INFINITY || isnan(sum.largest)) {
      sum.exponentials += static_cast<double>(expf(value - sum.largest));
    }
  }
  static __device__ Sum join(const Sum& a, const Sum& b) {
    const bool second = b.largest > a.largest || isnan(b.largest);
    const double more = second ? b.exponentials : a.exponentials, less = second ? a.exponentials : b.exponentials;
    const float largest = second ? b.largest : a.largest, other = second ? a.largest : b.largest;
    const double scale = other > -INFINITY ? static_cast<double>(expf(other - largest)) : 0;
    return {more + less * scale, a.values + b.values, largest};
  }
  /// As exact where one value outweighs the others: the sum of all but the largest is not lost beside 1.
  static __device__ float logarithm(const Sum& sum) { return log1pf(static_cast<float>(sum.exponentials - 1)); }
};

}  // namespace tbem::cuda
