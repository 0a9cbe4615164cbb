#include "compiler/design/Verify.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace tbem::design {

namespace {

/// Calls `visit(columns)` for every ascending choice of `t` of `k` columns until it returns false; true if all were visited.
template <class Visit> bool eachChoice(std::uint32_t k, std::uint32_t t, Visit visit) {
  if (t > k) return true;
  std::vector<std::uint32_t> choice(t);
  std::iota(choice.begin(), choice.end(), 0U);
  while (true) {
    if (!visit(choice)) return false;
    std::uint32_t i = t;
    while (i > 0 && choice[i - 1] == k - t + i - 1) --i;
    if (i == 0) return true;
    ++choice[i - 1];
    for (; i < t; ++i) choice[i] = choice[i - 1] + 1;
  }
}

/// Rows by combination: counted in a table where the combinations are few, else in a map.
std::unordered_map<std::uint64_t, std::uint64_t> countSparse(const Array& array, const std::vector<std::uint32_t>& columns) {
  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  for (std::size_t r = 0; r < array.runs; ++r) {
    std::uint64_t key = 0;
    for (const std::uint32_t c : columns) key = key * array.levels[c] + array.at(r, c);
    ++counts[key];
  }
  return counts;
}

std::vector<std::uint32_t> combinationOf(std::uint64_t key, const Array& array, const std::vector<std::uint32_t>& columns) {
  std::vector<std::uint32_t> combination(columns.size());
  for (std::size_t i = columns.size(); i-- > 0;) {
    combination[i] = static_cast<std::uint32_t>(key % array.levels[columns[i]]);
    key /= array.levels[columns[i]];
  }
  return combination;
}

/// Number of combinations, or nothing above 2^62.
std::optional<std::uint64_t> combinations(const Array& array, const std::vector<std::uint32_t>& columns) {
  std::uint64_t product = 1;
  for (const std::uint32_t c : columns) {
    if (product > (std::uint64_t{1} << 62) / array.levels[c]) return std::nullopt;
    product *= array.levels[c];
  }
  return product;
}

std::optional<Imbalance> imbalanceOf(const Array& array, const std::vector<std::uint32_t>& columns, std::vector<std::uint64_t>& counts) {
  const auto total = combinations(array, columns);
  const auto runs = static_cast<std::int64_t>(array.runs);
  if (!total || *total > array.runs) {  // some combination is missing for certain: name one that is too frequent
    const auto sparse = countSparse(array, columns);
    const Rational expected = total ? *Rational::make(runs, static_cast<__int128>(*total)) : Rational::of(0);
    const auto first = std::min_element(sparse.begin(), sparse.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (first == sparse.end()) return Imbalance{columns, {}, 0, expected};
    return Imbalance{columns, total ? combinationOf(first->first, array, columns) : std::vector<std::uint32_t>{}, first->second, expected};
  }
  counts.assign(*total, 0);
  for (std::size_t r = 0; r < array.runs; ++r) {
    std::uint64_t key = 0;
    for (const std::uint32_t c : columns) key = key * array.levels[c] + array.at(r, c);
    ++counts[key];
  }
  for (std::uint64_t key = 0; key < *total; ++key) {
    if (counts[key] * *total != array.runs) {
      return Imbalance{columns, combinationOf(key, array, columns), counts[key], *Rational::make(runs, static_cast<__int128>(*total))};
    }
  }
  return std::nullopt;
}

std::optional<Imbalance> cellOutside(const Array& array) {
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::uint32_t c = 0; c < array.columns(); ++c) {
      if (array.at(r, c) >= array.levels[c]) return Imbalance{{c}, {}, 1, Rational::of(0)};
    }
  }
  return std::nullopt;
}

std::optional<Imbalance> imbalanceAt(const Array& array, std::uint32_t t) {
  std::optional<Imbalance> found;
  std::vector<std::uint64_t> counts;
  eachChoice(static_cast<std::uint32_t>(array.columns()), t, [&](const std::vector<std::uint32_t>& columns) {
    found = imbalanceOf(array, columns, counts);
    return !found.has_value();
  });
  return found;
}

}  // namespace

std::optional<Imbalance> findImbalance(const Array& array, std::uint32_t strength) {
  if (auto outside = cellOutside(array)) return outside;
  const auto t = std::min<std::uint32_t>(strength, static_cast<std::uint32_t>(array.columns()));
  for (std::uint32_t u = 1; u <= t; ++u) {  // t alone would do; the smallest choice explains more
    if (auto found = imbalanceAt(array, u)) return found;
  }
  return std::nullopt;
}

std::uint32_t measuredStrength(const Array& array, std::uint32_t limit) {
  if (cellOutside(array)) return 0;
  const auto most = std::min<std::uint32_t>(limit, static_cast<std::uint32_t>(array.columns()));
  std::uint32_t t = 0;
  while (t < most && !imbalanceAt(array, t + 1)) ++t;
  return t;
}

std::vector<std::vector<std::uint64_t>> levelCounts(const Array& array) {
  std::vector<std::vector<std::uint64_t>> counts;
  for (const std::uint32_t s : array.levels) counts.emplace_back(s, 0);
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::size_t c = 0; c < array.columns(); ++c) {
      if (array.at(r, c) < array.levels[c]) ++counts[c][array.at(r, c)];
    }
  }
  return counts;
}

std::vector<std::vector<std::size_t>> duplicateRows(const Array& array) {
  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> groups;
  for (std::size_t r = 0; r < array.runs; ++r) groups[{array.row(r).begin(), array.row(r).end()}].push_back(r);
  std::vector<std::vector<std::size_t>> repeated;
  for (auto& [row, members] : groups) {
    if (members.size() > 1) repeated.push_back(std::move(members));
  }
  std::sort(repeated.begin(), repeated.end());
  return repeated;
}

Coverage coverage(const Array& array, std::uint32_t t) {
  Coverage result;
  const auto size = std::min<std::uint32_t>(t, static_cast<std::uint32_t>(array.columns()));
  if (size == 0) return result;
  eachChoice(static_cast<std::uint32_t>(array.columns()), size, [&](const std::vector<std::uint32_t>& columns) {
    result.covered += countSparse(array, columns).size();
    result.total += combinations(array, columns).value_or(0);
    return true;
  });
  return result;
}

}  // namespace tbem::design
