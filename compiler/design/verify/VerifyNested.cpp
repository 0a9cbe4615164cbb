// Strength under nesting, by counting. Nothing here trusts the construction.
#include "compiler/design/verify/VerifyNested.h"
#include "compiler/design/array/ColumnChoice.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tbem::design {

namespace {

using Columns = std::vector<std::uint32_t>;

/// The columns and all that they are nested in, ascending.
Columns withParents(const Array& array, std::span<const std::uint32_t> columns) {
  std::set<std::uint32_t> all(columns.begin(), columns.end());
  for (const std::uint32_t column : columns) {
    for (const Nested* one = nestingOf(array.nested, column); one != nullptr; one = nestingOf(array.nested, one->parent))
      all.insert(one->parent);
  }
  return {all.begin(), all.end()};
}

/// The first row in which a nested column has a value where it must have none, or the other way round.
std::optional<Imbalance> brokenNesting(const Array& array) {
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::uint32_t c = 0; c < array.columns(); ++c) {
      if (array.at(r, c) >= array.levels[c]) return Imbalance{{c}, {}, 1, Rational::of(0)};
    }
    for (const Nested& one : array.nested) {
      const std::uint32_t above = array.at(r, one.parent);
      const bool exists = std::binary_search(one.under.begin(), one.under.end(), above);
      if (exists == isAbsent(array, r, one.column))
        return Imbalance{{one.parent, one.column}, {above, array.at(r, one.column)}, 1, Rational::of(0)};
    }
  }
  return std::nullopt;
}

/// Calls visit(values) for each combination of values of the columns until it returns false.
template <class Visit>
void eachCombination(const Array& array, std::span<const std::uint32_t> columns, Visit visit) {
  std::vector<std::uint32_t> values(columns.size(), 0);
  for (;;) {
    if (!visit(values)) return;
    std::size_t i = columns.size();
    while (i-- > 0) {
      if (++values[i] < valuesOf(array, columns[i])) break;
      values[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

/// Rows by the values of the columns, first of those above the chosen ones, then of the chosen ones.
using Counts = std::map<std::vector<std::uint32_t>, std::map<std::vector<std::uint32_t>, std::uint64_t>>;

std::optional<Imbalance> imbalanceOf(const Array& array, const Columns& chosen) {
  const Columns all = withParents(array, chosen);
  Columns above;
  std::set_difference(all.begin(), all.end(), chosen.begin(), chosen.end(), std::back_inserter(above));
  Counts counts;
  for (std::size_t r = 0; r < array.runs; ++r) {
    std::vector<std::uint32_t> outer, inner;
    bool exists = true;
    for (const std::uint32_t c : chosen) {
      exists = exists && !isAbsent(array, r, c);
      inner.push_back(array.at(r, c));
    }
    for (const std::uint32_t c : above) outer.push_back(array.at(r, c));
    if (exists) ++counts[outer][inner];
  }
  std::optional<Imbalance> found;
  for (const auto& [outer, rows] : counts) {
    Columns columns = above;
    columns.insert(columns.end(), chosen.begin(), chosen.end());
    std::uint64_t total = 0, combinations = 0;
    for (const auto& [inner, count] : rows) total += count;
    std::vector<std::uint32_t> values;
    const auto together = [&](const std::vector<std::uint32_t>& inner) {
      values = outer;
      values.insert(values.end(), inner.begin(), inner.end());
      return existTogether(array.nested, columns, values);
    };
    eachCombination(array, chosen, [&](const std::vector<std::uint32_t>& inner) {
      combinations += together(inner) ? 1 : 0;
      return true;
    });
    eachCombination(array, chosen, [&](const std::vector<std::uint32_t>& inner) {
      const auto at = rows.find(inner);
      const std::uint64_t count = at == rows.end() ? 0 : at->second;
      if (!together(inner) || count * combinations == total) return true;
      found = Imbalance{columns, values, count,
                        *Rational::make(static_cast<std::int64_t>(total), static_cast<__int128>(combinations))};
      return false;
    });
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace

bool existTogether(std::span<const Nested> nested, std::span<const std::uint32_t> columns,
                   std::span<const std::uint32_t> values) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> allowed;
  for (std::size_t i = 0; i < columns.size(); ++i) allowed[columns[i]] = {values[i]};
  for (const std::uint32_t column : columns) {
    for (const Nested* one = nestingOf(nested, column); one != nullptr; one = nestingOf(nested, one->parent)) {
      const auto [at, fresh] = allowed.emplace(one->parent, one->under);
      if (fresh) continue;
      std::vector<std::uint32_t> both;
      std::set_intersection(at->second.begin(), at->second.end(), one->under.begin(), one->under.end(), std::back_inserter(both));
      if (both.empty()) return false;
      at->second = std::move(both);
    }
  }
  return true;
}

std::uint64_t existingCombinations(const Array& array, std::span<const std::uint32_t> columns) {
  const bool crossed =
      std::all_of(columns.begin(), columns.end(), [&](std::uint32_t c) { return nestingOf(array.nested, c) == nullptr; });
  std::uint64_t count = crossed ? 1 : 0;
  if (crossed) {
    for (const std::uint32_t c : columns) count *= array.levels[c];
    return count;
  }
  eachCombination(array, columns, [&](const std::vector<std::uint32_t>& values) {
    count += existTogether(array.nested, columns, values) ? 1 : 0;
    return true;
  });
  return count;
}

std::optional<Imbalance> findNestedImbalance(const Array& array, std::uint32_t strength) {
  if (auto broken = brokenNesting(array)) return broken;
  const auto k = static_cast<std::uint32_t>(array.columns());
  for (std::uint32_t t = 1; t <= std::min(strength, k); ++t) {
    Columns chosen(t);
    std::iota(chosen.begin(), chosen.end(), 0U);
    do {
      if (auto found = imbalanceOf(array, chosen)) return found;
    } while (nextChoice(chosen, k));
  }
  return std::nullopt;
}

}  // namespace tbem::design
