// A sum of matrix products: of the parts of a long sum, or of a product for each image. The parts that are computed at once each
// have a place in the workspace and are added up afterwards, in a fixed order.
#pragma once

#include "runtime/backends/cuda/libraries/ProductShape.h"

#include <cstdint>
#include <optional>

namespace tbem::cuda {

struct SumShape {
  ProductShape each;                  ///< one round: its batch are parts; y of it are their places, in f32 where they are joined
  std::int32_t result = TBEM_F32;     ///< of the sum
  std::int64_t rounds = 1;            ///< each adds to the parts of the one before
  std::int64_t nextA = 0, nextB = 0;  ///< from one round to the next, in elements
  std::optional<ProductShape> rest;   ///< what is left of a long sum: one more part
  std::int64_t restA = 0, restB = 0;  ///< where it begins

  std::int64_t parts() const { return each.batch.count + (rest ? 1 : 0); }
  /// Whether parts have places of their own; else there is one, which is the result.
  bool joins() const { return parts() > 1 || each.result != result; }
  std::int64_t results() const { return each.m * each.n; }
};

/// A product of few results and long sums, as parts that keep a card busy; nothing where its results do that. From the shape
/// alone.
std::optional<SumShape> splitSum(const ProductShape& product);

/// The sum over `count` of products that are like the first, whose matrices begin so many elements after one another.
SumShape sumOf(const ProductShape& first, std::int64_t count, std::int64_t strideA, std::int64_t strideB);

}  // namespace tbem::cuda
