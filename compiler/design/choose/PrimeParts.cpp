#include "compiler/design/choose/PrimeParts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

/// The array of one prime: of the columns that it divides.
struct Part {
  Levels levels;  ///< the largest power of the prime in each column; 1 where there is none
  Plan plan;
};

std::map<std::uint32_t, Levels> powersOf(const Levels& levels) {
  std::map<std::uint32_t, Levels> powers;
  for (std::size_t c = 0; c < levels.size(); ++c) {
    std::uint32_t rest = levels[c];
    for (std::uint32_t p = 2; rest > 1; ++p) {
      if (p * p > rest) p = rest;
      for (; rest % p == 0; rest /= p) {
        Levels& of = powers.try_emplace(p, levels.size(), 1).first->second;
        of[c] *= p;
      }
    }
  }
  return powers;
}

Levels varying(const Levels& levels) {
  Levels result;
  for (const std::uint32_t s : levels) {
    if (s > 1) result.push_back(s);
  }
  return result;
}

/// The rows of `array` and, inside each, those of the part; its cells are added with the weight of the levels so far.
void multiply(Array& array, Levels& weights, const Levels& levels, const Array& part) {
  Array result = blankArray(array.runs * part.runs, array.levels);
  const std::size_t k = levels.size();
  Levels weighed(part.runs * k, 0);  // the part's cells, with 0 in columns that it lacks
  for (std::size_t j = 0; j < part.runs; ++j) {
    for (std::size_t c = 0, own = 0; c < k; ++c) {
      if (levels[c] > 1) weighed[j * k + c] = weights[c] * part.at(j, own++);
    }
  }
  std::uint32_t* to = result.cells.data();
  for (std::size_t i = 0; i < array.runs; ++i) {
    const std::uint32_t *from = array.cells.data() + i * k, *by = weighed.data();
    for (std::size_t j = 0; j < part.runs; ++j, to += k, by += k) {
      for (std::size_t c = 0; c < k; ++c) to[c] = from[c] + by[c];
    }
  }
  for (std::size_t c = 0; c < k; ++c) weights[c] *= levels[c];
  array = std::move(result);
}

std::optional<Array> build(const std::vector<Part>& parts, const Levels& levels, std::uint32_t strength) {
  Array array = blankArray(1, levels);
  Levels weights(levels.size(), 1);
  std::string words;
  for (const Part& part : parts) {
    const auto built = part.plan.build();
    if (!built) return std::nullopt;
    multiply(array, weights, part.levels, *built);
    words += fmt::format("{}{} of {}", words.empty() ? "product of " : " and ", built->construction, levelText(built->levels));
  }
  array.strength = strength;
  array.construction = words;
  return array;
}

}  // namespace

std::optional<Plan> primePartsPlan(const Levels& levels, std::uint32_t strength, std::size_t maxRuns, std::size_t maxCells) {
  const auto powers = powersOf(levels);
  if (powers.size() < 2) return std::nullopt;
  std::vector<Part> parts;
  std::uint64_t runs = 1;
  for (const auto& [p, of] : powers) {
    const std::size_t most = std::min(maxRuns, maxCells / levels.size()) / runs;
    std::vector<Plan> plans = plansFor(varying(of), strength, most, false);
    if (plans.empty()) return std::nullopt;
    runs *= plans.front().runs;
    parts.push_back({of, std::move(plans.front())});
  }
  return Plan{runs, strength, [parts = std::move(parts), levels, strength] { return build(parts, levels, strength); }};
}

}  // namespace tbem::design
