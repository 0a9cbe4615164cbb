#include "test/problems/Attention.h"

#include <algorithm>
#include <cmath>

namespace tbem::test {

namespace {
using Dims = std::vector<std::int64_t>;
Array shape(const Dims& dims) { return {dims, {}, false}; }
}  // namespace

Problem randomAttention(tbem_primitive primitive, Random& r) {
  Dims lead(static_cast<std::size_t>(r.integer(0, 2)));
  for (std::int64_t& dimension : lead) dimension = r.integer(1, 3);
  const std::int64_t l = r.integer(1, 20), m = r.integer(1, 20), d = r.integer(1, 16), e = r.integer(1, 16),
                     causal = r.integer(0, 1);
  const auto dims = [&](std::int64_t height, std::int64_t width) {
    Dims all = lead;
    all.push_back(height);
    if (width > 0) all.push_back(width);
    return all;
  };
  const Array query = r.array(dims(l, d)), key = r.array(dims(m, d)), value = r.array(dims(m, e));
  if (primitive == TBEM_PRIMITIVE_attention)
    return {primitive, {causal}, {}, {query, key, value}, {shape(dims(l, e)), shape(dims(l, 0))}};
  Array logSums = r.array(dims(l, 0));
  for (std::size_t row = 0; row < logSums.values.size(); ++row) {
    const auto length = static_cast<std::size_t>(l), width = static_cast<std::size_t>(d), keys = static_cast<std::size_t>(m);
    const std::size_t seen = causal != 0 ? std::min(row % length + 1, keys) : keys;
    double sum = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      double score = 0;
      for (std::size_t k = 0; k < width; ++k)
        score += query.values[row * width + k] * key.values[(row / length * keys + j) * width + k];
      sum += std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    logSums.values[row] = std::log(sum);
  }
  return {primitive,
          {causal},
          {},
          {r.array(dims(l, e)), query, key, value, r.array(dims(l, e)), logSums},
          {shape(dims(l, d)), shape(dims(m, d)), shape(dims(m, e))}};
}

}  // namespace tbem::test
