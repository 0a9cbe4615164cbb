// The inner loops of softmax, log softmax and cross entropy: one line of classes at a time.
//
// exp is f32, within 1.2 units in the last place where its result is a normal number, and 0 below. The largest value of a line is
// subtracted first, in f32; sums are f32 over at most 512 elements, joined in f64.
#pragma once

#include <cstdint>

namespace tbem::cpu {

/// Element k is at data[k], or at data[offsets[k]] where offsets are given.
template <class T>
struct Line {
  T* data = nullptr;
  const std::int64_t* offsets = nullptr;
};

/// What a line's loop writes to `to`, with p = exp(x - max x) / sum exp(x - max x).
enum class SoftmaxLoop {
  Softmax,             ///< p of x = from
  LogSoftmax,          ///< log p of x = from
  SoftmaxGradient,     ///< y (dy - sum(dy y)) of dy = from, y = result
  LogSoftmaxGradient,  ///< dy - exp(y) sum(dy) of dy = from, y = result
  Entropy,             ///< nothing; returns the line's cross entropy of x = from
  EntropyGradient,     ///< scale (p - smoothing / length - (1 - smoothing) [k = target]) of x = from
};

struct SoftmaxLine {
  Line<const float> from, result;
  Line<float> to;  ///< may be `from` or `result`
  std::int64_t length = 0;
  std::int64_t target = 0;  ///< in 0..length - 1
  double smoothing = 0;     ///< share of the target's probability that is spread over all classes
  double scale = 1;
};

double softmaxLine(SoftmaxLoop loop, const SoftmaxLine& line);

}  // namespace tbem::cpu
