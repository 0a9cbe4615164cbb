// Softmax and log softmax along one axis, and the mean cross entropy of class numbers along one. The largest value is subtracted
// first.
#include "runtime/backends/ref/Kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbem::ref {
namespace {

using runtime::Lines;
using runtime::linesAlong;

/// Calls use(offset of the line's first element) for each line.
template <class Use>
void forLines(const Lines& lines, Use use) {
  for (std::int64_t o = 0; o < lines.outer; ++o) {
    for (std::int64_t i = 0; i < lines.inner; ++i) use(o * lines.length * lines.inner + i);
  }
}

struct Normaliser {
  double largest, sum;
};

template <class T>
Normaliser normaliser(const T* line, std::int64_t length, std::int64_t step) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < length; ++k) {
    const auto value = static_cast<double>(line[k * step]);
    if (value > largest || std::isnan(value)) largest = value;
  }
  double sum = 0;
  for (std::int64_t k = 0; k < length; ++k) sum += std::exp(static_cast<double>(line[k * step]) - largest);
  return {largest, sum};
}

tbem_status checkTargets(const std::int64_t* target, const Lines& lines) {
  for (std::int64_t i = 0; i < lines.outer * lines.inner; ++i) {
    if ((target[i] >= 0 && target[i] < lines.length) || target[i] == runtime::kNoClass) continue;
    return fail(TBEM_FAILED,
                fmt::format("cross_entropy: target {} of sample {} is not in 0..{}", target[i], i, lines.length - 1));
  }
  return TBEM_OK;
}

/// How many lines have a class, as a divisor: 1 where none has.
double countOf(const std::int64_t* target, const Lines& lines) {
  const std::int64_t all = lines.outer * lines.inner;
  return static_cast<double>(std::max<std::int64_t>(all - std::count(target, target + all, runtime::kNoClass), 1));
}

/// Calls use(offset of the line's first element, its target) for each line.
template <class Use>
void forTargets(const Lines& lines, const std::int64_t* target, Use use) {
  forLines(lines, [&](std::int64_t at) { use(at, *target++); });
}

}  // namespace

template <class T>
tbem_status softmax(const Op& op, void* const* memory, void*, const double*) {
  const Lines lines = linesAlong(op.operands[0], op.attributes[0]);
  const auto* x = static_cast<const T*>(memory[0]);
  auto* y = static_cast<T*>(memory[1]);
  const bool logarithm = op.desc.primitive == TBEM_PRIMITIVE_log_softmax;
  forLines(lines, [&](std::int64_t at) {
    const Normaliser z = normaliser(x + at, lines.length, lines.inner);
    const double logSum = std::log(z.sum);
    for (std::int64_t k = 0; k < lines.length; ++k) {
      const double shifted = static_cast<double>(x[at + k * lines.inner]) - z.largest;
      y[at + k * lines.inner] = static_cast<T>(logarithm ? shifted - logSum : std::exp(shifted) / z.sum);
    }
  });
  return TBEM_OK;
}

template <class T>
tbem_status softmaxGradient(const Op& op, void* const* memory, void*, const double*) {
  const Lines lines = linesAlong(op.operands[0], op.attributes[0]);
  const auto* dy = static_cast<const T*>(memory[0]);
  const auto* y = static_cast<const T*>(memory[1]);
  auto* dx = static_cast<T*>(memory[2]);
  const bool logarithm = op.desc.primitive == TBEM_PRIMITIVE_log_softmax_gradient;
  forLines(lines, [&](std::int64_t first) {
    double sum = 0;
    for (std::int64_t k = 0; k < lines.length; ++k) {
      const std::int64_t at = first + k * lines.inner;
      sum += static_cast<double>(dy[at]) * (logarithm ? 1.0 : static_cast<double>(y[at]));
    }
    for (std::int64_t k = 0; k < lines.length; ++k) {
      const std::int64_t at = first + k * lines.inner;
      const auto result = static_cast<double>(y[at]), gradient = static_cast<double>(dy[at]);
      dx[at] = static_cast<T>(logarithm ? gradient - std::exp(result) * sum : result * (gradient - sum));
    }
  });
  return TBEM_OK;
}

template <class T>
tbem_status crossEntropy(const Op& op, void* const* memory, void*, const double* scalars) {
  const Lines lines = linesAlong(op.operands[0], op.attributes[0]);
  const auto* logits = static_cast<const T*>(memory[0]);
  const auto* target = static_cast<const std::int64_t*>(memory[1]);
  const double smoothing = scalars[0];
  if (const tbem_status wrong = checkTargets(target, lines)) return wrong;
  double sum = 0;
  forTargets(lines, target, [&](std::int64_t at, std::int64_t wanted) {
    if (wanted == runtime::kNoClass) return;
    const Normaliser z = normaliser(logits + at, lines.length, lines.inner);
    double all = 0;
    for (std::int64_t k = 0; k < lines.length; ++k) all += static_cast<double>(logits[at + k * lines.inner]) - z.largest;
    const double own = static_cast<double>(logits[at + wanted * lines.inner]) - z.largest;
    sum += std::log(z.sum) - (1 - smoothing) * own - (smoothing == 0 ? 0 : smoothing * all / static_cast<double>(lines.length));
  });
  *static_cast<T*>(memory[2]) = static_cast<T>(sum / countOf(target, lines));
  return TBEM_OK;
}

template <class T>
tbem_status crossEntropyGradient(const Op& op, void* const* memory, void*, const double* scalars) {
  const Lines lines = linesAlong(op.operands[1], op.attributes[0]);
  const auto* logits = static_cast<const T*>(memory[1]);
  const auto* target = static_cast<const std::int64_t*>(memory[2]);
  auto* dlogits = static_cast<T*>(memory[3]);
  if (const tbem_status wrong = checkTargets(target, lines)) return wrong;
  const double scale = static_cast<double>(*static_cast<const T*>(memory[0])) / countOf(target, lines);
  const double own = 1 - scalars[0], each = scalars[0] / static_cast<double>(lines.length);
  forTargets(lines, target, [&](std::int64_t at, std::int64_t wanted) {
    if (wanted == runtime::kNoClass) {
      for (std::int64_t k = 0; k < lines.length; ++k) dlogits[at + k * lines.inner] = T(0);
      return;
    }
    const Normaliser z = normaliser(logits + at, lines.length, lines.inner);
    for (std::int64_t k = 0; k < lines.length; ++k) {
      const double probability = std::exp(static_cast<double>(logits[at + k * lines.inner]) - z.largest) / z.sum;
      dlogits[at + k * lines.inner] = static_cast<T>(scale * (probability - each - (k == wanted ? own : 0.0)));
    }
  });
  return TBEM_OK;
}

#define TBEM_REF_INSTANCES(T)                                                             \
  template tbem_status softmax<T>(const Op&, void* const*, void*, const double*);         \
  template tbem_status softmaxGradient<T>(const Op&, void* const*, void*, const double*); \
  template tbem_status crossEntropy<T>(const Op&, void* const*, void*, const double*);    \
  template tbem_status crossEntropyGradient<T>(const Op&, void* const*, void*, const double*);
TBEM_REF_INSTANCES(float)
TBEM_REF_INSTANCES(double)

}  // namespace tbem::ref
