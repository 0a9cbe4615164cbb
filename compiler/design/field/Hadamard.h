// Hadamard matrices and the two-level arrays they give.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

/// A square matrix of +1 and -1 whose rows are orthogonal; row and column 0 are +1.
struct HadamardMatrix {
  std::uint32_t order = 0;
  std::vector<std::int8_t> cells;  ///< row-major
  std::string construction;        ///< "Paley I over GF(11)", "Sylvester x Paley I over GF(11)"
  int at(std::uint32_t r, std::uint32_t c) const { return cells[std::size_t{r} * order + c]; }
};

/// Largest order that `hadamard` tries.
constexpr std::uint32_t kLargestHadamard = 1024;

/// Orders 1, 2, q + 1 for a prime power q = 3 mod 4 (Paley I, 1933), 2 (q + 1) for q = 1 mod 4 (Paley II), 4 n where there are
/// `fourCirculants` of order n, 4 q for a prime power q = 1 mod 8 and a Paley matrix of order (q - 1) / 2 (Miyamoto 1991), and
/// products of those (Sylvester's Kronecker product): all multiples of 4 up to 400. Nothing for other orders.
std::optional<HadamardMatrix> hadamard(std::uint32_t order);
/// Whether there is one.
bool hadamardReaches(std::uint32_t order);
/// The same answer without building: which construction reaches the order, or "".
std::string hadamardConstruction(std::uint32_t order);

/// OA(n, columns, 2, 2) from a Hadamard matrix of order n, columns <= n - 1; level 0 is +1.
std::optional<Array> hadamardArray(std::uint32_t runs, std::uint32_t columns);
/// OA(2n, columns, 2, 3) from a Hadamard matrix of order n and its negative (foldover), columns <= n. `runs` = 2n.
std::optional<Array> foldoverArray(std::uint32_t runs, std::uint32_t columns);

}  // namespace tbem::design
