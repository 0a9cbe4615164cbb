// Columns of linear arrays, coordinate by coordinate. Internal to compiler/design.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tbem::design {

/// Sums of two elements, by the first times q plus the second.
template <class Add>
std::vector<std::uint32_t> sumsOf(std::uint32_t q, Add add) {
  std::vector<std::uint32_t> sums(std::size_t{q} * q);
  for (std::uint32_t a = 0; a < q; ++a) {
    for (std::uint32_t b = 0; b < q; ++b) sums[std::size_t{a} * q + b] = add(a, b);
  }
  return sums;
}

/// Every cell becomes its sums with the terms, in turn: the rows get one more coordinate, that changes fastest.
inline void addCoordinate(std::vector<std::uint32_t>& cells, const std::vector<std::uint32_t>& terms,
                          const std::vector<std::uint32_t>& sums, std::uint32_t q) {
  std::vector<std::uint32_t> next(cells.size() * terms.size());
  std::uint32_t* to = next.data();
  for (const std::uint32_t cell : cells) {
    const std::uint32_t* sum = sums.data() + std::size_t{cell} * q;
    for (const std::uint32_t term : terms) *to++ = sum[term];
  }
  cells = std::move(next);
}

}  // namespace tbem::design
