#include "compiler/design/Verify.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tbem::design {

namespace {

/// Calls `visit(columns)` for every ascending choice of `t` of `k` columns until it returns false; true if all were visited.
template <class Visit>
bool eachChoice(std::uint32_t k, std::uint32_t t, Visit visit) {
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

/// Rows by combination, for combinations that may be more than rows.
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

/// The array's columns, each contiguous: counting reads them one after the other.
using Columns = std::vector<std::vector<std::uint32_t>>;
Columns columnsOf(const Array& array) {
  Columns columns(array.columns(), std::vector<std::uint32_t>(array.runs));
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c][r] = array.at(r, c);
  }
  return columns;
}

/// A choice with more combinations than rows: some are missing, so name one that is there and thus too frequent.
Imbalance tooManyCombinations(const Array& array, const std::vector<std::uint32_t>& columns, std::optional<std::uint64_t> total) {
  const Rational expected =
      total ? *Rational::make(static_cast<std::int64_t>(array.runs), static_cast<__int128>(*total)) : Rational::of(0);
  if (!total || array.runs == 0) return {columns, {}, 0, expected};
  std::vector<std::uint32_t> first;
  first.reserve(columns.size());
  for (const std::uint32_t c : columns) first.push_back(array.at(0, c));
  std::uint64_t count = 0;
  for (std::size_t r = 0; r < array.runs; ++r) {
    bool same = true;
    for (std::size_t i = 0; i < columns.size() && same; ++i) same = array.at(r, columns[i]) == first[i];
    count += same ? 1 : 0;
  }
  return {columns, std::move(first), count, expected};
}

/// Room that counting reuses from one choice of columns to the next.
struct Room {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> counts;
};

std::optional<Imbalance> imbalanceOf(const Array& array, const Columns& cells, const std::vector<std::uint32_t>& columns,
                                     Room& room) {
  const auto total = combinations(array, columns);
  if (!total || *total > array.runs) return tooManyCombinations(array, columns, total);
  room.keys.assign(array.runs, 0);
  for (const std::uint32_t c : columns) {
    const std::uint32_t s = array.levels[c];
    const std::uint32_t* column = cells[c].data();
    for (std::size_t r = 0; r < array.runs; ++r) room.keys[r] = room.keys[r] * s + column[r];
  }
  room.counts.assign(*total, 0);
  for (const std::uint32_t key : room.keys) ++room.counts[key];
  for (std::uint64_t key = 0; key < *total; ++key) {
    if (room.counts[key] * *total == array.runs) continue;
    const Rational expected = *Rational::make(static_cast<std::int64_t>(array.runs), static_cast<__int128>(*total));
    return Imbalance{columns, combinationOf(key, array, columns), room.counts[key], expected};
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

std::optional<Imbalance> imbalanceAt(const Array& array, const Columns& cells, std::uint32_t t) {
  std::optional<Imbalance> found;
  Room room;
  eachChoice(static_cast<std::uint32_t>(array.columns()), t, [&](const std::vector<std::uint32_t>& columns) {
    found = imbalanceOf(array, cells, columns, room);
    return !found.has_value();
  });
  return found;
}

}  // namespace

std::optional<Imbalance> findImbalance(const Array& array, std::uint32_t strength) {
  if (auto outside = cellOutside(array)) return outside;
  const auto t = std::min<std::uint32_t>(strength, static_cast<std::uint32_t>(array.columns()));
  if (t == 0) return std::nullopt;
  const Columns cells = columnsOf(array);
  std::optional<Imbalance> found = imbalanceAt(array, cells, t);
  for (std::uint32_t u = 1; found && u < t;
       ++u) {  // strength t contains the lower ones; the smallest choice that is wrong explains most
    if (auto smaller = imbalanceAt(array, cells, u)) return smaller;
  }
  return found;
}

std::uint32_t measuredStrength(const Array& array, std::uint32_t limit) {
  if (cellOutside(array)) return 0;
  const auto most = std::min<std::uint32_t>(limit, static_cast<std::uint32_t>(array.columns()));
  const Columns cells = columnsOf(array);
  std::uint32_t t = 0;
  while (t < most && !imbalanceAt(array, cells, t + 1)) ++t;
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
