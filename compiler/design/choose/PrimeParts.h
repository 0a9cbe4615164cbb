// Arrays of many levels as products of arrays whose levels are powers of one prime. Internal to this folder.
#pragma once

#include "compiler/design/choose/Plans.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::design {

/// For each prime the smallest array of the powers of it in `levels`; a row for each choice of one row of each, a column the
/// combination of its parts (MacNeish 1922, Bush 1952: of the strength of all). Nothing where there is but one prime, and above
/// `maxRuns` rows or `maxCells` cells.
std::optional<Plan> primePartsPlan(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t maxRuns,
                                   std::size_t maxCells = kMostCells);

}  // namespace tbem::design
