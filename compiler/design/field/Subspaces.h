// Linear arrays of mixed levels. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::design {

/// Subspaces of GF(p)^m, each by a basis; a vector is the number with its coordinates as digits in base p, lowest first.
struct Subspaces {
  std::uint32_t p = 0, m = 0;
  std::vector<std::vector<std::uint32_t>> bases;
  std::uint32_t field = 1;  ///< those of this dimension are lines over GF(p^field)
};

/// For each of the numbers of levels p^a a subspace of dimension a, such that any `strength` of them are independent; nothing
/// where the search finds none or p^m exceeds 2^24. Greedy: of each next one no vector but 0 is a sum of vectors of strength - 1
/// others (Gilbert 1952, Varshamov 1957); for strength 3 points of caps come first. Time: p^m times the columns, at most.
std::optional<Subspaces> independentSubspaces(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::uint32_t p,
                                              std::uint32_t m, std::uint32_t field);

/// A row for each vector x of GF(p)^m, a column of p^a levels for each subspace: the products of x with its basis. Of strength t
/// where any t of the subspaces are independent (Brouwer, Cohen and Nguyen 2006, section 4).
Table subspaceTable(const Subspaces& subspaces);

}  // namespace tbem::design
