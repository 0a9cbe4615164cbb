#include "runtime/backends/cuda/libraries/SumShape.h"

#include <algorithm>

namespace tbem::cuda {

namespace {
constexpr std::int64_t kMostParts = (std::int64_t{32} << 20U) / static_cast<std::int64_t>(sizeof(float));  // elements of all
}

std::optional<SumShape> splitSum(const ProductShape& product) {
  // A large card has over a hundred multiprocessors, each of which takes a tile or two at a time.
  constexpr std::int64_t kTile = 128, kWanted = 256, kShortest = 256, kRound = 32;
  if (product.batch.count != 1 || !product.outer.empty()) return std::nullopt;
  const std::int64_t tiles = ((product.m - 1) / kTile + 1) * ((product.n - 1) / kTile + 1);
  const std::int64_t results = product.m * product.n;
  const std::int64_t parts = std::min({kWanted / tiles, product.k / kShortest, kMostParts / results});
  if (parts < 2) return std::nullopt;
  // Parts begin where the widest loads may begin.
  const std::int64_t length = (product.k / parts + kRound - 1) / kRound * kRound;
  SumShape sum;
  sum.each = product;
  sum.result = product.result;
  sum.each.result = TBEM_F32;
  sum.each.bias = -1;
  sum.each.leadA = product.transposeA ? product.m : product.k;
  sum.each.leadB = product.transposeB ? product.k : product.n;
  sum.each.k = length;
  sum.each.batch = {product.k / length, product.transposeA ? length * product.m : length,
                    product.transposeB ? length : length * product.n, results};
  if (const std::int64_t left = product.k % length; left != 0) {
    sum.rest = sum.each;
    sum.rest->k = left;
    sum.rest->batch = {};
    sum.restA = sum.each.batch.count * sum.each.batch.a;
    sum.restB = sum.each.batch.count * sum.each.batch.b;
  }
  return sum;
}

SumShape sumOf(const ProductShape& first, std::int64_t count, std::int64_t strideA, std::int64_t strideB) {
  SumShape sum;
  sum.each = first;
  std::int64_t together = std::clamp<std::int64_t>(kMostParts / (first.m * first.n), 1, count);
  while (count % together != 0) --together;
  sum.each.batch = {together, strideA, strideB, first.m * first.n};
  sum.rounds = count / together;
  sum.result = first.result;
  if (together > 1 || sum.rounds > 1) sum.each.result = TBEM_F32;
  sum.nextA = together * strideA;
  sum.nextB = together * strideB;
  return sum;
}

}  // namespace tbem::cuda
