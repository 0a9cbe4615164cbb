// cross_entropy of class numbers along an axis, and its gradient; Szegedy et al. 2016, section 7, for the smoothing.
#include "runtime/backends/cuda/kernels/Lines.cuh"
#include "runtime/backends/cuda/kernels/Reduction.cuh"
#include "runtime/backends/cuda/kernels/Report.cuh"
#include "tbem/backend.h"

namespace tbem::cuda {
namespace {

constexpr std::int64_t kNoClass = -100;

/// A line's class, or kNoClass, also where it is none of the classes, which is noted.
template <class Index>
__device__ std::int64_t classOf(const LineShape<Index>& shape, const Line<Index>& line, const EntropyLines& of, int primitive) {
  if (!line.inside) return kNoClass;
  const std::int64_t wanted = of.target[line.number];
  if (wanted == kNoClass || (wanted >= 0 && static_cast<std::uint64_t>(wanted) < shape.length)) return wanted;
  if (line.place.down == 0) report(of.word, primitive, line.number);
  return kNoClass;
}

/// What each line adds to the sum. Logits are of type T, the loss and its gradient f32.
template <class T, class Index>
__device__ void terms(const LineShape<Index>& shape, const EntropyLines& of, double* result) {
  const Line<Index> line(shape);
  const std::int64_t wanted = classOf(shape, line, of, TBEM_PRIMITIVE_cross_entropy);
  const T* const logits = static_cast<const T*>(of.logits);
  Normaliser::Sum sum = Normaliser::none();
  if (wanted != kNoClass) sum = Normaliser::of(shape, line, logits, of.smoothing != 0);
  sum = joinDown<Normaliser>(shape.tile, line.place, sum);
  if (!line.inside || line.place.down != 0) return;
  if (wanted == kNoClass) {
    result[line.number] = 0;
    return;
  }
  const double largest = static_cast<double>(sum.largest), length = static_cast<double>(shape.length);
  const double own = static_cast<double>(asFloat(logits[line.first + static_cast<Index>(wanted) * shape.inner])) - largest;
  const double spread = of.smoothing == 0 ? 0 : of.smoothing * (sum.values / length - largest);
  result[line.number] = static_cast<double>(Normaliser::logarithm(sum)) - (1 - of.smoothing) * own - spread;
}

template <class Index, class T>
__device__ void gradient(const LineShape<Index>& shape, const EntropyLines& of, const float* dloss, const double* count,
                         T* dlogits) {
  const Line<Index> line(shape);
  const std::int64_t wanted = classOf(shape, line, of, TBEM_PRIMITIVE_cross_entropy_gradient);
  const T* const logits = static_cast<const T*>(of.logits);
  Normaliser::Sum sum = Normaliser::none();
  if (wanted != kNoClass) sum = Normaliser::of(shape, line, logits, false);
  sum = joinDown<Normaliser>(shape.tile, line.place, sum);
  const double scale = static_cast<double>(*dloss) / *count, share = 1 / sum.exponentials;
  const double each = of.smoothing / static_cast<double>(shape.length);
  const auto scaleHere = static_cast<float>(scale), shareHere = static_cast<float>(share), eachHere = static_cast<float>(each);
  forElements(
      shape, line, [&](Index at) { return wanted == kNoClass ? 0 : asFloat(logits[at]); },
      [&](Index at, Index k, float value) {
        const float exponential = expf(value - sum.largest);
        float result = scaleHere * (exponential * shareHere - eachHere);
        if (static_cast<std::int64_t>(k) == wanted)  // a probability near 1 is taken away from 1
          result = static_cast<float>(scale * (static_cast<double>(exponential) * share - 1 - (each - of.smoothing)));
        dlogits[at] = rounded<T>(wanted == kNoClass ? 0 : result);
      });
}

/// The sum of the terms, and how many lines have a class.
struct Mean : PairOfSums<EntropyOperands> {
  const EntropyOperands& operands;
  __device__ Mean(const EntropyOperands& from, std::uint64_t) : operands(from) {}
  struct Loaded {
    double term;
    std::int64_t target;
  };
  template <class Index>
  __device__ Loaded load(Index at, Index) const {
    return {operands.terms[at], operands.target[at]};
  }
  __device__ void add(Sum& sum, const Loaded& loaded) const {
    sum.first += loaded.term;
    sum.second += loaded.target != kNoClass ? 1 : 0;
  }
  __device__ void store(const Sum& sum) const {
    *static_cast<float*>(operands.result) = static_cast<float>(sum.first / (sum.second > 0 ? sum.second : 1));
  }
};

struct Count {
  using Operands = EntropyOperands;
  using Sum = double;
  const EntropyOperands& operands;
  __device__ Count(const EntropyOperands& from, std::uint64_t) : operands(from) {}
  static __device__ double none() { return 0; }
  static __device__ double join(double a, double b) { return a + b; }
  template <class Index>
  __device__ std::int64_t load(Index at, Index) const {
    return operands.target[at];
  }
  __device__ void add(double& sum, std::int64_t target) const { sum += target != kNoClass ? 1 : 0; }
  __device__ void store(double sum) const { *static_cast<double*>(operands.result) = sum > 0 ? sum : 1; }
};

}  // namespace
}  // namespace tbem::cuda

TBEM_REDUCTION(Entropy, mean, tbem::cuda::Mean)
TBEM_REDUCTION(Entropy, count, tbem::cuda::Count)

#define TBEM_ENTROPY_OF(type, T, bits, Index)                                                                                 \
  extern "C" __global__ void __launch_bounds__(tbem::cuda::kMostThreads)                                                      \
      tbem_Entropy_terms_##type##_##bits(tbem::cuda::LineShape<Index> shape, tbem::cuda::EntropyLines of, double* result) {   \
    tbem::cuda::terms<T>(shape, of, result);                                                                                  \
  }                                                                                                                           \
  extern "C" __global__ void __launch_bounds__(tbem::cuda::kMostThreads) tbem_Entropy_gradient_##type##_##bits(               \
      tbem::cuda::LineShape<Index> shape, tbem::cuda::EntropyLines of, const float* dloss, const double* count, T* dlogits) { \
    tbem::cuda::gradient(shape, of, dloss, count, dlogits);                                                                   \
  }
#define TBEM_ENTROPY(type, T)                 \
  TBEM_ENTROPY_OF(type, T, 32, std::uint32_t) \
  TBEM_ENTROPY_OF(type, T, 64, std::uint64_t)
TBEM_ENTROPY(f32, float)
TBEM_ENTROPY(bf16, tbem::cuda::Bfloat16)
TBEM_ENTROPY(f16, tbem::cuda::Float16)
