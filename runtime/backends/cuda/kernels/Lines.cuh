// Lines along an axis, each by the threads down a tile, and what softmax is normalised by.
#pragma once

#include "runtime/backends/cuda/kernels/Real.cuh"
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

/// Calls use(offset, number along the line, what load(offset) gives) for this thread's elements; several are loaded before any is
/// used, so that loads wait together also where `use` writes.
template <class Index, class Load, class Use>
__device__ void forElements(const LineShape<Index>& shape, const Line<Index>& line, Load load, Use use) {
  constexpr int kTurns = kUnrolled<Index>;
  if (!line.inside) return;
  const Index depth = line.place.depth;
  for (Index first = line.place.down; first < shape.length; first += depth * kTurns) {
    decltype(load(first)) loaded[kTurns];
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const Index number = first + k * depth < shape.length ? first + k * depth : first;  // under no condition
      loaded[k] = load(line.first + number * shape.inner);
    }
#pragma unroll
    for (int k = 0; k < kTurns; ++k) {
      const Index number = first + k * depth;
      if (number < shape.length) use(line.first + number * shape.inner, number, loaded[k]);
    }
  }
}

/// The larger, or a NaN.
inline __device__ float larger(float a, float b) { return b > a || isnan(b) ? b : a; }

/// The largest value, and the sum of exp(value - largest), in one pass (Milakov & Gimelshein 2018, arXiv 1805.02867), some values
/// at a time; the sum of the values. What is -inf adds nothing: where all are, the sum is 0, and what is made of it a NaN.
struct Normaliser {
  struct Sum {
    double exponentials, values;
    float largest;
  };
  static __device__ Sum none() { return {0, 0, -INFINITY}; }
  static __device__ Sum join(const Sum& a, const Sum& b) {
    const bool second = b.largest > a.largest || isnan(b.largest);
    const double more = second ? b.exponentials : a.exponentials, less = second ? a.exponentials : b.exponentials;
    const float largest = second ? b.largest : a.largest, other = second ? a.largest : b.largest;
    const double scale = other > -INFINITY ? static_cast<double>(expf(other - largest)) : 0;
    return {more + less * scale, a.values + b.values, largest};
  }
  /// As exact where one value outweighs the others: the sum of all but the largest is not lost beside 1.
  static __device__ float logarithm(const Sum& sum) { return log1pf(static_cast<float>(sum.exponentials - 1)); }

  /// Of this thread's part of a line. The values are summed where that is asked.
  template <class Index, class T>
  static __device__ Sum of(const LineShape<Index>& shape, const Line<Index>& line, const T* x, bool sumsValues) {
    constexpr int kTurns = kUnrolled<Index>;
    Sum sum = none();
    if (!line.inside) return sum;
    const Index depth = line.place.depth;
    for (Index first = line.place.down; first < shape.length; first += depth * kTurns) {
      float value[kTurns];
      float largest = sum.largest;
#pragma unroll
      for (int k = 0; k < kTurns; ++k) {
        const Index number = first + k * depth;
        value[k] = asFloat(x[line.first + (number < shape.length ? number : first) * shape.inner]);
        if (number >= shape.length) value[k] = -INFINITY;
      }
#pragma unroll
      for (int k = 0; k < kTurns; ++k) largest = larger(largest, value[k]);
      if (sumsValues) {
#pragma unroll
        for (int k = 0; k < kTurns; ++k) sum.values += first + k * depth < shape.length ? static_cast<double>(value[k]) : 0;
      }
      if (largest == -INFINITY) continue;
      float some = 0;
#pragma unroll
      for (int k = 0; k < kTurns; ++k) some += expf(value[k] - largest);
      if (largest != sum.largest) sum.exponentials *= static_cast<double>(expf(sum.largest - largest));
      sum.exponentials += static_cast<double>(some);
      sum.largest = largest;
    }
    return sum;
  }
};

}  // namespace tbem::cuda
