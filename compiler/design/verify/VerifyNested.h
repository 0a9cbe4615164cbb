// What nesting asks of an array with nested factors (choose/NestedArray.h), counted.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/verify/Verify.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tbem::design {

/// Whether some row holds these levels together, as far as nesting goes. Values only, no absence.
bool existTogether(std::span<const Nested> nested, std::span<const std::uint32_t> columns, std::span<const std::uint32_t> values);
/// Combinations of values of these columns that some row can hold.
std::uint64_t existingCombinations(const Array& array, std::span<const std::uint32_t> columns);

/// `findImbalance` under nesting: for every choice of at most `strength` columns and every combination of levels of the columns
/// that they are nested in, their values stand equally often in the rows where they exist. Reports the columns above as well. A
/// row that breaks the nesting is an imbalance too.
std::optional<Imbalance> findNestedImbalance(const Array& array, std::uint32_t strength);

}  // namespace tbem::design
