// Which rows a design may hold: combinations of levels that must not stand together.
#pragma once

#include "compiler/design/array/Array.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbem::design {

/// One level of one factor.
struct Literal {
  std::uint32_t factor = 0, level = 0;
  friend auto operator<=>(const Literal&, const Literal&) = default;
};

/// Levels that stand together, ascending by factor, each factor once. The empty one stands in every row.
using Combination = std::vector<Literal>;

/// A row is valid where it holds no forbidden combination.
struct Constraints {
  std::vector<std::uint32_t> levels;   ///< of each factor, at least 1
  std::vector<Combination> forbidden;  ///< ascending; none holds another once simplified
  std::vector<Nested> nested;          ///< as Array::nested; `forbidden` says what that excludes

  bool empty() const { return forbidden.empty(); }
  /// `row` has one level a factor. Cost: size of `forbidden`.
  bool allows(std::span<const std::uint32_t> row) const;
};

/// The same valid rows with fewer and shorter combinations: where others forbid every level of one factor beside the same rest,
/// the rest is forbidden; what a shorter one forbids goes.
Constraints simplified(Constraints constraints);

}  // namespace tbem::design
