// Arrays whose rows are pairs of rows of two smaller ones. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Composite.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::design {

class DifferenceSchemes;

/// One column with a level for each row.
BaseArray singleColumn(std::uint64_t runs);

/// Rows (i, j), i < n, j < m, over an array A of n runs (Wang and Wu 1991; Hedayat, Sloane, Stufken, section 6.3): i; j; and for
/// each column a of A and each column d but the zero one of a difference scheme over its levels, a(i) + d(j). For a fixed j the
/// first is uniform, for a fixed i the second, in every pair. Into `columns`.
void kroneckerColumns(DifferenceSchemes& schemes, std::uint32_t n, std::uint32_t m, const Columns& a, Columns& columns);
BaseArray kroneckerProduct(std::uint32_t n, std::uint32_t m, const Composite& a);

/// Rows (i, j), i < n, j < m, over an array A of n runs and n - 1 two-level columns and an array C of m runs with a two-level
/// column u: (i, u(j)) as one column of 2 n levels, the other columns of C, and a(i) + d(j) for the columns d but 0 and u of a
/// Hadamard matrix with u as a column: they are uniform for each value of u.
void mergedColumns(std::uint32_t n, std::uint32_t m, const Columns& c, Columns& columns);
BaseArray mergedProduct(std::uint32_t n, std::uint32_t m, const Composite& c);

/// Rows (i, j) of an array A and an array B: columns of both as pairs while there are, a level of A times the levels of B plus
/// one of B, then the rest (MacNeish 1922, Bush 1952). Of the strength of both.
BaseArray pairedProduct(const BaseArray& a, const BaseArray& b);
Columns pairedColumns(const Columns& a, const Columns& b);
/// The same, no columns paired, of one column each.
BaseArray gridProduct(std::uint64_t n, std::uint64_t m);

/// OA(2 m n, 2^(n-1) (2 m), 3) from a Hadamard matrix of order n, less its constant column: half of the levels of the wide column
/// hold it, the others its negative (Brouwer, Cohen and Nguyen 2006).
BaseArray wideFoldover(std::uint32_t n, std::uint32_t m);

}  // namespace tbem::design
