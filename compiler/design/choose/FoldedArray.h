// Arrays with dummy levels. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::design {

/// An orthogonal array over `q` levels a factor, at least as many as any has, of which levels too many stand for the first,
/// second,
/// ... (Addelman 1962): contrasts of different factors stay orthogonal, but levels stand unequally often, so its strength is 0.
/// Every combination that the strength asks for still stands. Nothing above `maxRows` rows.
std::optional<Array> foldedArray(const std::vector<std::uint32_t>& levels, std::uint32_t q, std::uint32_t strength,
                                 std::size_t maxRows);

}  // namespace tbem::design
