// Arrays of the same kind with other labels. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/array/Random.h"
#include "compiler/design/rows/RowFilter.h"

#include <cstdint>
#include <vector>

namespace tbem::design {

/// Arrays that permuting columns of equal levels, and labels of levels, makes of `array` (nested columns and those that they are
/// nested in stay): those with the most valid rows that
/// climbing from random permutations finds, at most `most` different ones. `checks` bounds the rows that are looked at.
std::vector<Array> relabelled(const Array& array, const RowFilter& valid, std::uint64_t checks, std::size_t most, Random& random);

}  // namespace tbem::design
