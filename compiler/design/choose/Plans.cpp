#include "compiler/design/choose/Plans.h"

#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/choose/CompositeSearch.h"
#include "compiler/design/choose/PrimeParts.h"
#include "compiler/design/field/Galois.h"
#include "compiler/design/field/Hadamard.h"
#include "compiler/design/field/RaoHamming.h"
#include "compiler/design/field/Subspaces.h"
#include "compiler/design/verify/Bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

// Composites are looked for at so many sizes from the lower bound on, and up to so many runs.
constexpr std::uint64_t kMostSizes = 40;
constexpr std::uint64_t kLargestComposite = 20'000;

void addFieldPlans(std::vector<Plan>& plans, std::uint32_t s, std::uint32_t k, std::uint32_t t, std::size_t maxRuns) {
  if (!primePower(s) || s > Galois::kLargest) return;
  if (t == 2) {
    for (std::uint32_t m = 2;; ++m) {
      const auto runs = powerUpTo(s, m, maxRuns);
      if (!runs) break;
      if (k <= (*runs - 1) / (s - 1)) plans.push_back({*runs, 2, [=] { return raoHamming(s, m, k, maxRuns); }});
    }
  }
  const std::uint32_t most = t == 3 && s % 2 == 0 ? s + 2 : s + 1;
  const auto runs = powerUpTo(s, t, maxRuns);
  if (t > 2 && runs && s + 1 >= t && k <= most) plans.push_back({*runs, t, [=] { return bush(s, t, k, maxRuns); }});
}

void addHadamardPlans(std::vector<Plan>& plans, std::uint32_t k, std::uint32_t t, std::size_t maxRuns) {
  if (t != 2 && t != 3) return;
  const std::uint32_t step = t == 2 ? 4 : 8, least = t == 2 ? k + 1 : 2 * k;
  for (std::uint32_t n = (least + step - 1) / step * step; n <= maxRuns && n <= kLargestHadamard * (t - 1); n += step) {
    if (!hadamardReaches(t == 2 ? n : n / 2)) continue;
    plans.push_back({n, t, [=] { return t == 2 ? hadamardArray(n, k) : foldoverArray(n, k); }});
  }
}

/// Strength 1: cycle through each column's levels, as long as their least common multiple.
std::optional<Array> cycles(const Levels& levels, std::size_t runs) {
  Array array;
  array.levels = levels;
  array.runs = runs;
  array.strength = 1;
  array.construction = "each level in turn";
  for (std::size_t r = 0; r < runs; ++r) {
    for (const std::uint32_t s : levels) array.cells.push_back(static_cast<std::uint32_t>(r % s));
  }
  return array;
}

/// Numbers of rows below `end` at which composites are looked for, ascending: the first multiples of the divisor, then the
/// divisor times powers of the levels, where codes are.
std::set<std::uint64_t> sizesToTry(const Levels& levels, const Bounds& bound, std::uint64_t end) {
  std::set<std::uint64_t> sizes;
  if (bound.smallest == 0) return sizes;
  for (std::uint64_t runs = bound.smallest; runs < end && sizes.size() < kMostSizes; runs += bound.divisor) sizes.insert(runs);
  for (const std::uint32_t s : levels) {
    for (std::uint64_t runs = bound.divisor; runs < end; runs *= s) {
      if (runs >= bound.smallest) sizes.insert(runs);
    }
  }
  return sizes;
}

/// Composites of so many runs.
std::optional<Plan> compositePlan(CompositeSearch& search, const Levels& levels, std::uint32_t strength, std::uint64_t runs) {
  auto composite = search.at(runs);
  if (!composite) return std::nullopt;
  return Plan{runs, strength, [composite = std::move(*composite), levels, strength]() -> std::optional<Array> {
                const auto table = build(composite, columnsOf(levels));
                auto array = table ? rowsOf(*table, levels) : std::nullopt;
                if (!array) return std::nullopt;
                array->strength = strength;
                array->construction = composite.words();
                return array;
              }};
}

/// The linear array of p^m rows that a search finds, for levels that are powers of the prime p.
std::optional<Plan> linearPlan(const Levels& levels, std::uint32_t strength, std::uint32_t p, std::uint32_t m) {
  const auto largest = primePower(*std::max_element(levels.begin(), levels.end()));
  const auto least = primePower(*std::min_element(levels.begin(), levels.end()));
  for (const std::uint32_t field : std::set<std::uint32_t, std::greater<>>{largest->exponent, least->exponent, 1}) {
    auto found = independentSubspaces(levels, strength, p, m, field);
    if (!found) continue;
    return Plan{*powerUpTo(p, m, SIZE_MAX), strength, [found = std::move(*found), levels, strength]() -> std::optional<Array> {
                  auto array = rowsOf(subspaceTable(found), levels);
                  if (!array) return std::nullopt;
                  array->strength = strength;
                  array->construction = fmt::format("{} subspaces of GF({})^{}, any {} of them independent", levels.size(),
                                                    found.p, found.m, strength);
                  return array;
                }};
  }
  return std::nullopt;
}

/// The prime of which all the levels are powers.
std::optional<std::uint32_t> primeOf(const Levels& levels) {
  const auto first = primePower(levels.front());
  const auto same = [&](std::uint32_t s) {
    const auto power = primePower(s);
    return power && power->prime == first->prime;
  };
  return first && std::all_of(levels.begin(), levels.end(), same) ? std::optional(first->prime) : std::nullopt;
}

/// The smallest linear array of fewer than `end` rows.
std::optional<Plan> smallestLinearPlan(const Levels& levels, std::uint32_t strength, std::uint64_t least, std::uint64_t end) {
  const auto p = strength > 2 ? primeOf(levels) : std::nullopt;
  if (!p || least == 0) return std::nullopt;
  std::uint64_t runs = 1;
  for (std::uint32_t m = 0; runs < end && runs * levels.size() <= kMostCells; ++m, runs *= *p) {
    if (runs < least) continue;
    if (auto plan = linearPlan(levels, strength, *p, m)) return plan;
  }
  return std::nullopt;
}

}  // namespace

std::string arrayName(std::uint64_t runs, const Levels& levels) { return fmt::format("L{}({})", runs, levelText(levels)); }
std::string factorialName(const Levels& levels) { return fmt::format("full factorial {}", levelText(levels)); }

std::vector<Plan> simplePlans(const Levels& levels, std::uint32_t strength, std::size_t maxRuns, bool withFull) {
  std::vector<Plan> plans;
  const auto k = static_cast<std::uint32_t>(levels.size());
  std::uint64_t all = 1;
  for (const std::uint32_t s : levels) all = all > maxRuns / s ? maxRuns + 1 : all * s;
  const bool equal = std::adjacent_find(levels.begin(), levels.end(), std::not_equal_to<>()) == levels.end();
  const bool few = k <= strength;
  if (all <= maxRuns && (few || withFull || bounds(levels, strength).smallest == all)) {
    plans.push_back({all, k, [=] { return fullFactorial(levels, maxRuns); }});
  }
  if (!few && strength == 1) {
    std::uint64_t runs = 1;
    for (const std::uint32_t s : levels) runs = runs > maxRuns ? runs : std::lcm(runs, std::uint64_t{s});
    if (runs <= maxRuns) plans.push_back({runs, 1, [=] { return cycles(levels, runs); }});
  }
  if (!few && equal && strength >= 2) {
    const std::uint32_t s = levels.front();
    addFieldPlans(plans, s, k, strength, maxRuns);
    if (s == 2) addHadamardPlans(plans, k, strength, maxRuns);
    const auto runs = powerUpTo(s, strength, maxRuns);
    if (k == strength + 1 && runs) plans.push_back({*runs, strength, [=] { return zeroSum(s, strength, k, maxRuns); }});
  }
  std::stable_sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.runs < b.runs; });
  return plans;
}

std::vector<Plan> plansFor(const Levels& levels, std::uint32_t strength, std::size_t maxRuns, bool withFull) {
  std::vector<Plan> plans = simplePlans(levels, strength, maxRuns, withFull);
  if (levels.size() <= strength || strength < 2) return plans;
  if (auto parts = primePartsPlan(levels, strength, maxRuns)) {
    const auto at = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) { return plan.runs > parts->runs; });
    plans.insert(at, std::move(*parts));
  }
  const Bounds bound = bounds(levels, strength);
  std::uint64_t all = 1;
  for (const std::uint32_t s : levels) all = std::min(all * s, kLargestComposite);
  const std::uint64_t end = std::min({all, std::uint64_t{maxRuns} + 1, plans.empty() ? UINT64_MAX : plans.front().runs});
  CompositeSearch search(strength, columnsOf(levels));
  for (const std::uint64_t runs : sizesToTry(levels, bound, end)) {
    if (auto plan = compositePlan(search, levels, strength, runs)) {
      plans.insert(plans.begin(), std::move(*plan));
      break;
    }
  }
  const std::uint64_t limit = plans.empty() ? std::uint64_t{maxRuns} + 1 : plans.front().runs;
  if (auto linear = smallestLinearPlan(levels, strength, bound.smallest, limit)) plans.insert(plans.begin(), std::move(*linear));
  return plans;
}

std::optional<Plan> planAt(const Levels& levels, std::uint32_t strength, std::uint64_t runs) {
  for (Plan& plan : simplePlans(levels, strength, runs, true)) {
    if (plan.runs == runs) return std::move(plan);
  }
  const Bounds bound = bounds(levels, strength);
  if (levels.size() <= strength || strength < 2 || bound.smallest == 0 || runs < bound.smallest || runs % bound.divisor != 0)
    return std::nullopt;
  if (runs <= kLargestComposite) {
    CompositeSearch search(strength, columnsOf(levels));
    if (auto plan = compositePlan(search, levels, strength, runs)) return plan;
  }
  if (auto plan = primePartsPlan(levels, strength, runs); plan && plan->runs == runs) return plan;
  return runs * levels.size() <= kMostCells ? smallestLinearPlan(levels, strength, runs, runs + 1) : std::nullopt;
}

}  // namespace tbem::design
