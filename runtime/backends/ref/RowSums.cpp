// The sums that the gradients of a normalisation over the last axis share: Ba et al. 2016 (arXiv 1607.06450), equations 3 and 4.
#include "runtime/backends/ref/Kernels.h"

#include <algorithm>
#include <cmath>

namespace tbem::ref {

template <class T>
tbem_status rowGradientSums(const Op& op, void* const* memory, void* work, const double* scalars) {
  const tbem_operand& shape = op.operands[1];
  const std::int64_t features = shape.dims[shape.rank - 1], rows = runtime::elementCount(shape) / features;
  const auto* dy = static_cast<const T*>(memory[0]);
  const auto* x = static_cast<const T*>(memory[1]);
  const auto* variance = static_cast<const T*>(memory[2]);
  const auto* weight = static_cast<const T*>(memory[3]);
  const auto* mean = static_cast<const T*>(memory[4]);
  auto* columns = static_cast<double*>(work);
  std::fill_n(columns, 2 * features, 0.0);
  for (std::int64_t r = 0; r < rows; ++r) {
    const double centre = mean != nullptr ? static_cast<double>(mean[r]) : 0;
    const double deviation = std::sqrt(static_cast<double>(variance[r]) + scalars[0]);
    double sum = 0, product = 0;
    for (std::int64_t f = 0; f < features; ++f) {
      const auto gradient = static_cast<double>(dy[r * features + f]);
      const double normalised = (static_cast<double>(x[r * features + f]) - centre) / deviation;
      const double scaled = weight != nullptr ? gradient * static_cast<double>(weight[f]) : gradient;
      columns[f] += gradient * normalised;
      columns[features + f] += gradient;
      sum += scaled;
      product += scaled * normalised;
    }
    static_cast<T*>(memory[7])[r] = static_cast<T>(sum);
    static_cast<T*>(memory[8])[r] = static_cast<T>(product);
  }
  for (std::int64_t f = 0; f < features; ++f) {
    static_cast<T*>(memory[5])[f] = static_cast<T>(columns[f]);
    static_cast<T*>(memory[6])[f] = static_cast<T>(columns[features + f]);
  }
  return TBEM_OK;
}

template tbem_status rowGradientSums<float>(const Op&, void* const*, void*, const double*);
template tbem_status rowGradientSums<double>(const Op&, void* const*, void*, const double*);

}  // namespace tbem::ref
