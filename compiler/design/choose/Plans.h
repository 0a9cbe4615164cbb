// The constructions that apply to a list of levels, by size, before any of them is built. Internal to this folder.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tbem::design {

/// Products of arrays, and linear arrays that are searched for, have no more cells than this: more is no answer to what was
/// asked.
constexpr std::size_t kMostCells = 4'000'000;

/// One construction at one size. `build` may still fail (too many runs for memory): nothing then.
struct Plan {
  std::uint64_t runs = 0;
  std::uint32_t strength = 0;
  std::function<std::optional<Array>()> build;
};

/// The plans of one construction for these levels (each at least 2) with at most `maxRuns` rows, ascending by runs; of equal runs
/// the preferred first. Never the full factorial unless no smaller array can exist or the factors are `strength` or fewer;
/// `withFull` adds it always.
std::vector<Plan> simplePlans(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t maxRuns,
                              bool withFull);
/// Those, and before them the smallest composite where it is smaller.
std::vector<Plan> plansFor(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t maxRuns, bool withFull);
/// The preferred plan of exactly so many runs, the full factorial included.
std::optional<Plan> planAt(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::uint64_t runs);

/// "L16(4^3)"
std::string arrayName(std::uint64_t runs, const std::vector<std::uint32_t>& levels);
/// "full factorial 2^1 3^1"
std::string factorialName(const std::vector<std::uint32_t>& levels);

}  // namespace tbem::design
