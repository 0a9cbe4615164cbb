// Arrays that stand on small tables. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Composite.h"
#include "compiler/design/field/DifferenceScheme.h"

#include <cstdint>
#include <vector>

namespace tbem::design {

/// Those of so many runs: p 2^k in 4 p runs, 2^10 3^8 6 and 2 3^3 6^3 in 36, 2^6 3^3 6^6 12 in 72, 10^4 in 100,
/// 2^(3-t) 3^(4-t) 6^(8+t) for t = 0..3 in 108.
std::vector<BaseArray> specialArrays(std::uint64_t runs);
/// 2^4 3^3 4 6^6 in 72 runs, and the columns of an array of 12 runs but one of two levels, which it has.
BaseArray extendedTwelve(const Composite& twelve);

/// Of strength 3: 2^6 5 in 40 runs, 2^4 3 4 and 2^9 3 in 48, 2 3^5 in 54, 2^6 4^4 in 64 (sizes: Brouwer, Cohen and Nguyen 2006;
/// Hedayat, Seiden and Stufken 1997).
std::vector<BaseArray> specialArraysOfStrengthThree(std::uint64_t runs);

/// A Hadamard matrix of this order with its rows permuted, so that column 1 is `wanted` (0 and 1, balanced): its first `columns`
/// (2 at least) as a difference scheme.
DifferenceScheme hadamardWith(std::uint32_t order, const std::vector<std::uint32_t>& wanted, std::uint32_t columns);

}  // namespace tbem::design
