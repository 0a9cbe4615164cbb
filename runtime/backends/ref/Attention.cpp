// Scaled dot-product attention row by row of the query, and its gradient from the results; sums in f64.
#include "runtime/backends/ref/Kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbem::ref {
namespace {

using runtime::Attention;

template <class T>
double product(const T* a, const T* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// How many rows of the key row i of the query sees.
std::int64_t seen(const Attention& a, std::int64_t i) { return a.causal ? std::min(a.m, i + 1) : a.m; }

double scaleOf(const Attention& a) { return 1 / std::sqrt(static_cast<double>(a.d)); }

}  // namespace

template <class T>
tbem_status attention(const Op& op, void* const* memory, void* work, const double*) {
  const Attention a = runtime::attention(op.desc);
  const auto *query = static_cast<const T*>(memory[0]), *key = static_cast<const T*>(memory[1]),
             *value = static_cast<const T*>(memory[2]);
  auto *y = static_cast<T*>(memory[3]), *logSums = static_cast<T*>(memory[4]);
  auto* const weights = static_cast<double*>(work);
  const double scale = scaleOf(a);
  for (std::int64_t lead = 0; lead < a.outer * a.heads; ++lead, key += a.m * a.d, value += a.m * a.e) {
    for (std::int64_t i = 0; i < a.l; ++i, query += a.d, y += a.e) {
      const std::int64_t rows = seen(a, i);
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t j = 0; j < rows; ++j) {
        weights[j] = product(query, key + j * a.d, a.d) * scale;
        if (weights[j] > largest || std::isnan(weights[j])) largest = weights[j];
      }
      for (std::int64_t j = 0; j < rows; ++j) sum += weights[j] = std::exp(weights[j] - largest);
      for (std::int64_t k = 0; k < a.e; ++k) {
        double total = 0;
        for (std::int64_t j = 0; j < rows; ++j) total += weights[j] * static_cast<double>(value[j * a.e + k]);
        y[k] = static_cast<T>(total / sum);
      }
      *logSums++ = static_cast<T>(largest + std::log(sum));
    }
  }
  return TBEM_OK;
}

template <class T>
tbem_status attentionGradient(const Op& op, void* const* memory, void* work, const double*) {
  const Attention a = runtime::attention(op.desc);
  const auto in = [memory](int k) { return static_cast<const T*>(memory[k]); };
  const auto *dy = in(0), *query = in(1), *key = in(2), *value = in(3), *y = in(4), *logSums = in(5);
  auto *dquery = static_cast<T*>(memory[6]), *dkey = static_cast<T*>(memory[7]), *dvalue = static_cast<T*>(memory[8]);
  // Of one product: the gradients of key and value, which each row of the query adds to, and of a row's scores.
  auto *const keySums = static_cast<double*>(work), *const valueSums = keySums + a.m * a.d, *const scores = valueSums + a.m * a.e;
  const double scale = scaleOf(a);
  for (std::int64_t lead = 0; lead < a.outer * a.heads; ++lead) {
    std::fill(keySums, scores, 0.0);
    for (std::int64_t i = 0; i < a.l; ++i, query += a.d, dquery += a.d, dy += a.e, y += a.e, ++logSums) {
      const std::int64_t rows = seen(a, i);
      const double shared = product(dy, y, a.e);
      for (std::int64_t j = 0; j < rows; ++j) {
        const double weight = std::exp(product(query, key + j * a.d, a.d) * scale - static_cast<double>(*logSums));
        scores[j] = weight * (product(dy, value + j * a.e, a.e) - shared) * scale;
        for (std::int64_t k = 0; k < a.e; ++k) valueSums[j * a.e + k] += weight * static_cast<double>(dy[k]);
        for (std::int64_t k = 0; k < a.d; ++k) keySums[j * a.d + k] += scores[j] * static_cast<double>(query[k]);
      }
      for (std::int64_t k = 0; k < a.d; ++k) {
        double total = 0;
        for (std::int64_t j = 0; j < rows; ++j) total += scores[j] * static_cast<double>(key[j * a.d + k]);
        dquery[k] = static_cast<T>(total);
      }
    }
    for (std::int64_t k = 0; k < a.m * a.d; ++k) *dkey++ = static_cast<T>(keySums[k]);
    for (std::int64_t k = 0; k < a.m * a.e; ++k) *dvalue++ = static_cast<T>(valueSums[k]);
    key += a.m * a.d, value += a.m * a.e;
  }
  return TBEM_OK;
}

template tbem_status attention<float>(const Op&, void* const*, void*, const double*);
template tbem_status attention<double>(const Op&, void* const*, void*, const double*);
template tbem_status attentionGradient<float>(const Op&, void* const*, void*, const double*);
template tbem_status attentionGradient<double>(const Op&, void* const*, void*, const double*);

}  // namespace tbem::ref
