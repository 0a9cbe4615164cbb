// Arrays of strength 3 and more from codes: a row is a codeword of the dual code. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Composite.h"

#include <cstdint>
#include <vector>

namespace tbem::design {

/// Those of so many runs and at least this strength t >= 3: zero-sum and Bush arrays, the ovoid OA(q^4, q^2 + 1, q, 3), the cap
/// of 20 points in PG(4, 3) (Pellegrino 1971), extended BCH codes, the Golay codes of length 11 and 12, the quadratic-residue
/// codes of the same lengths over GF(4), the Nordstrom-Robinson code; over two levels also sets of points and lines (columns of
/// four levels).
std::vector<BaseArray> codeArrays(std::uint64_t runs, std::uint32_t strength);

}  // namespace tbem::design
