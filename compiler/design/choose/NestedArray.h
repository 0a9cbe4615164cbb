// Arrays with nested factors: rows in which each has a value only under some levels of its parent.
//
// Wherever a nested factor exists, its levels stand equally often, and so does every pair of its levels with those of any other
// factor that exists there: its effects within its parent's levels are orthogonal to the effects of all others (nested or
// sliced orthogonal arrays: Qian, Tang, Wu 2009; Qian, Wu 2009). Two constructions give that, and the smaller array is taken:
// - an orthogonal array with a column for each factor that is not nested; a factor with others in it takes a column of as many
//   levels as it and they have combinations, and a level of that column stands for one of them;
// - an orthogonal array for each level of a factor, over the factors that exist there, all of the same size.
#pragma once

#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/rows/Constraints.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::design {

/// `chooseArray` for nested factors. `levels` count the absence of nested ones, which is their last. `full`: all combinations
/// that exist, each once; its strength is 0, for levels of a parent with more combinations under them stand more often. What is
/// handed out has been verified by counting.
Choice chooseNestedArray(const std::vector<std::uint32_t>& levels, const std::vector<Nested>& nested, std::uint32_t strength,
                         const Options& options = {});

/// What nesting forbids: a value of a nested factor beside another level of its parent, its absence beside one of `under`.
std::vector<Combination> nestingRules(const std::vector<std::uint32_t>& levels, const std::vector<Nested>& nested);

}  // namespace tbem::design
