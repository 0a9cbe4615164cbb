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
  const bool inside = !lead.empty() && r.integer(0, 1) == 1;
  const auto dims = [&](std::int64_t height, std::int64_t width) {
    Dims all = lead;
    all.insert(all.end() - (inside ? 1 : 0), height);
    all.push_back(width);
    return all;
  };
  Dims sums = lead;
  sums.push_back(l);
  const std::vector<std::int64_t> attributes{causal, inside ? 1 : 0};
  const Array query = r.array(dims(l, d)), key = r.array(dims(m, d)), value = r.array(dims(m, e));
  if (primitive == TBEM_PRIMITIVE_attention)
    return {primitive, attributes, {}, {query, key, value}, {shape(dims(l, e)), shape(sums)}};
  Array logSums = r.array(sums);
  const std::int64_t heads = lead.empty() ? 1 : lead.back();
  /// Where a row begins of an operand with so many for each head.
  const auto rowOf = [&](std::int64_t product, std::int64_t row, std::int64_t rows) {
    const std::int64_t at = product / heads, head = product % heads;
    return static_cast<std::size_t>((inside ? (at * rows + row) * heads + head : product * rows + row) * d);
  };
  for (std::size_t number = 0; number < logSums.values.size(); ++number) {
    const std::int64_t product = static_cast<std::int64_t>(number) / l, row = static_cast<std::int64_t>(number) % l;
    const std::int64_t seen = causal != 0 ? std::min(row + 1, m) : m;
    double sum = 0;
    for (std::int64_t j = 0; j < seen; ++j) {
      double score = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k)
        score += query.values[rowOf(product, row, l) + k] * key.values[rowOf(product, j, m) + k];
      sum += std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    logSums.values[number] = std::log(sum);
  }
  return {primitive,
          attributes,
          {},
          {r.array(dims(l, e)), query, key, value, r.array(dims(l, e)), logSums},
          {shape(dims(l, d)), shape(dims(m, d)), shape(dims(m, e))}};
}

}  // namespace tbem::test
