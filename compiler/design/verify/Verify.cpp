#include "compiler/design/verify/Verify.h"

#include "compiler/design/array/ColumnChoice.h"
#include "compiler/design/array/Popcount.h"
#include "compiler/design/verify/VerifyNested.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

/// Calls `visit(columns)` for every ascending choice of `t` of `k` columns until it returns false; true if all were visited.
template <class Visit>
bool eachChoice(std::uint32_t k, std::uint32_t t, Visit visit) {
  if (t > k) return true;
  std::vector<std::uint32_t> choice(t);
  std::iota(choice.begin(), choice.end(), 0U);
  do {
    if (!visit(choice)) return false;
  } while (nextChoice(choice, k));
  return true;
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

/// A set of rows, 64 a word.
using Rows = std::vector<std::uint64_t>;

/// The array's columns, each contiguous: counting reads them one after the other; and of few levels the rows of each level but
/// the first.
struct Columns {
  std::vector<std::vector<std::uint32_t>> cells;
  std::vector<std::vector<Rows>> rows;  ///< by column and level - 1
};
constexpr std::uint32_t kMostLevelsAsRows = 9;
Columns columnsOf(const Array& array) {
  Columns columns;
  columns.cells.assign(array.columns(), std::vector<std::uint32_t>(array.runs));
  columns.rows.resize(array.columns());
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::size_t c = 0; c < array.columns(); ++c) columns.cells[c][r] = array.at(r, c);
  }
  for (std::size_t c = 0; c < array.columns(); ++c) {
    if (array.levels[c] > kMostLevelsAsRows) continue;
    columns.rows[c].assign(array.levels[c], Rows((array.runs + 63) / 64, 0));
    for (std::size_t r = 0; r < array.runs; ++r) columns.rows[c][columns.cells[c][r]][r / 64] |= std::uint64_t{1} << (r % 64);
    columns.rows[c].erase(columns.rows[c].begin());
  }
  return columns;
}

TBEM_POPCOUNT std::uint64_t countOfBoth(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  std::uint64_t count = 0;
  for (std::size_t w = 0; w < words; ++w) count += static_cast<std::uint64_t>(std::popcount(a[w] & b[w]));
  return count;
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

/// The first combination of a choice that stands too often or too seldom.
std::optional<Imbalance> imbalanceOf(const Array& array, const Columns& columns, const std::vector<std::uint32_t>& choice) {
  const auto total = combinations(array, choice);
  if (!total || *total > array.runs) return tooManyCombinations(array, choice, total);
  std::vector<std::uint32_t> counts(*total, 0);
  for (std::size_t r = 0; r < array.runs; ++r) {
    std::size_t key = 0;
    for (const std::uint32_t c : choice) key = key * array.levels[c] + columns.cells[c][r];
    ++counts[key];
  }
  for (std::uint64_t key = 0; key < *total; ++key) {
    if (counts[key] * *total == array.runs) continue;
    const Rational expected = *Rational::make(static_cast<std::int64_t>(array.runs), static_cast<__int128>(*total));
    return Imbalance{choice, combinationOf(key, array, choice), counts[key], expected};
  }
  return std::nullopt;
}

/// All choices that share their first columns, the prefix: what these say of each row is found once. The array has one strength
/// less already; so a choice is balanced iff the combinations without a first level stand as often as they should: the counts of
/// all others follow by inclusion and exclusion. Of few levels these are counted as sets of rows, else each row in turn.
class PrefixCounter {
public:
  PrefixCounter(const Array& array, const Columns& columns) : array(array), columns(columns) {}

  void start(const std::vector<std::uint32_t>& prefix) {
    combinations = 1;
    withoutFirst = 1;
    setsKnown = keysKnown = false;
    for (const std::uint32_t c : prefix) {
      if (combinations <= array.runs) combinations *= array.levels[c];
      withoutFirst =
          columns.rows[c].empty() ? kMostSets + 1 : std::min<std::uint64_t>(kMostSets + 1, withoutFirst * (array.levels[c] - 1));
    }
  }

  bool balancedWith(const std::vector<std::uint32_t>& prefix, std::uint32_t last) {
    const std::uint32_t s = array.levels[last];
    const std::uint64_t total = combinations * s;
    if (total > array.runs) return false;
    if (!columns.rows[last].empty() && withoutFirst * (s - 1) <= kMostSets) {
      if (!setsKnown) findSets(prefix);
      return std::all_of(sets.begin(), sets.end(), [&](const Rows& set) {
        return std::all_of(columns.rows[last].begin(), columns.rows[last].end(), [&](const Rows& rows) {
          return countOfBoth(set.data(), rows.data(), rows.size()) * total == array.runs;
        });
      });
    }
    if (!keysKnown) findKeys(prefix);
    counts.assign(total, 0);
    const std::uint32_t* cells = columns.cells[last].data();
    for (std::size_t r = 0; r < array.runs; ++r) ++counts[keys[r] * s + cells[r]];
    return std::all_of(counts.begin(), counts.end(), [&](std::uint32_t count) { return count * total == array.runs; });
  }

private:
  static constexpr std::uint64_t kMostSets = 200;  // beyond, counting row by row is faster

  const Array& array;
  const Columns& columns;
  std::uint64_t combinations = 1, withoutFirst = 1;
  bool setsKnown = false, keysKnown = false;
  std::vector<Rows> sets;  ///< the rows of each combination of the prefix without a first level
  std::vector<std::uint32_t> keys, counts;

  void findSets(const std::vector<std::uint32_t>& prefix) {
    sets.assign(1, Rows((array.runs + 63) / 64, ~std::uint64_t{0}));
    for (const std::uint32_t c : prefix) {
      std::vector<Rows> next;
      for (const Rows& set : sets) {
        for (const Rows& rows : columns.rows[c]) {
          Rows both(set);
          for (std::size_t w = 0; w < both.size(); ++w) both[w] &= rows[w];
          next.push_back(std::move(both));
        }
      }
      sets = std::move(next);
    }
    setsKnown = true;
  }

  void findKeys(const std::vector<std::uint32_t>& prefix) {
    keys.assign(array.runs, 0);
    for (const std::uint32_t c : prefix) {
      const std::uint32_t s = array.levels[c];
      const std::uint32_t* cells = columns.cells[c].data();
      for (std::size_t r = 0; r < array.runs; ++r) keys[r] = keys[r] * s + cells[r];
    }
    keysKnown = true;
  }
};

std::optional<Imbalance> cellOutside(const Array& array) {
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::uint32_t c = 0; c < array.columns(); ++c) {
      if (array.at(r, c) >= array.levels[c]) return Imbalance{{c}, {}, 1, Rational::of(0)};
    }
  }
  return std::nullopt;
}

/// Whether the rows are all combinations of all levels, each once: that is every strength, counted in one pass over the rows.
bool holdsEachOnce(const Array& array) {
  std::vector<std::uint32_t> all(array.columns());
  std::iota(all.begin(), all.end(), 0U);
  if (combinations(array, all) != array.runs) return false;
  std::vector<bool> there(array.runs, false);
  for (std::size_t r = 0; r < array.runs; ++r) {
    std::size_t key = 0;
    for (const std::uint32_t c : all) key = key * array.levels[c] + array.at(r, c);
    if (there[key]) return false;
    there[key] = true;
  }
  return true;
}

/// Among the choices of exactly `t` columns, where all smaller ones are balanced.
std::optional<Imbalance> imbalanceAt(const Array& array, const Columns& columns, std::uint32_t t) {
  const auto k = static_cast<std::uint32_t>(array.columns());
  std::optional<Imbalance> found;
  PrefixCounter counter(array, columns);
  eachChoice(k, t - 1, [&](const std::vector<std::uint32_t>& prefix) {
    counter.start(prefix);
    for (std::uint32_t last = prefix.empty() ? 0 : prefix.back() + 1; last < k; ++last) {
      if (counter.balancedWith(prefix, last)) continue;
      std::vector<std::uint32_t> choice = prefix;
      choice.push_back(last);
      found = imbalanceOf(array, columns, choice);
      return false;
    }
    return true;
  });
  return found;
}

}  // namespace

std::optional<Imbalance> findImbalance(const Array& array, std::uint32_t strength) {
  if (!array.nested.empty()) return findNestedImbalance(array, strength);
  if (auto outside = cellOutside(array)) return outside;
  const auto t = std::min<std::uint32_t>(strength, static_cast<std::uint32_t>(array.columns()));
  if (t == 0 || (t == array.columns() && holdsEachOnce(array))) return std::nullopt;
  const Columns columns = columnsOf(array);
  // Strength t contains the lower ones, and the smallest choice that is wrong explains most.
  for (std::uint32_t u = 1; u <= t; ++u) {
    if (auto found = imbalanceAt(array, columns, u)) return found;
  }
  return std::nullopt;
}

double countingCost(const Array& array, std::uint32_t strength) {
  const bool bits = std::all_of(array.levels.begin(), array.levels.end(), [](std::uint32_t s) { return s == 2; });
  double choices = bits ? 1.0 / 64 : 1;
  const auto t = std::min<std::uint32_t>(strength, static_cast<std::uint32_t>(array.columns()));
  for (std::uint32_t i = 0; i < t; ++i) choices *= static_cast<double>(array.columns() - i) / (i + 1.0);
  return choices * static_cast<double>(array.runs);
}

std::uint32_t measuredStrength(const Array& array, std::uint32_t limit) {
  if (cellOutside(array)) return 0;
  const auto most = std::min<std::uint32_t>(limit, static_cast<std::uint32_t>(array.columns()));
  std::uint32_t t = 0;
  if (!array.nested.empty()) {
    while (t < most && !findNestedImbalance(array, t + 1)) ++t;
    return t;
  }
  const Columns columns = columnsOf(array);
  while (t < most && !imbalanceAt(array, columns, t + 1)) ++t;
  return t;
}

std::vector<std::vector<std::uint64_t>> levelCounts(const Array& array) {
  std::vector<std::vector<std::uint64_t>> counts;
  for (std::uint32_t c = 0; c < array.columns(); ++c) counts.emplace_back(valuesOf(array, c), 0);
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::size_t c = 0; c < array.columns(); ++c) {
      if (array.at(r, c) < counts[c].size()) ++counts[c][array.at(r, c)];
    }
  }
  return counts;
}

std::optional<Coincidences> rowCoincidences(const Array& array) {
  const auto n = static_cast<std::int64_t>(array.runs);
  if (!array.nested.empty() || static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(array.columns()) > 8e9)
    return std::nullopt;
  Coincidences result;
  for (std::size_t a = 0; a < array.runs; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      std::uint64_t weight = 0;
      for (std::size_t c = 0; c < array.columns(); ++c) weight += array.at(a, c) == array.at(b, c) ? array.levels[c] : 0;
      result.squares += weight * weight;
    }
  }
  // Theorem 1 there, with the weight of each column its number of levels.
  const auto columns = static_cast<std::int64_t>(array.columns());
  const std::int64_t sum = std::accumulate(array.levels.begin(), array.levels.end(), std::int64_t{0});
  result.least = (n * n * columns * columns + n * n * (sum - columns) - n * sum * sum) / 2;
  return result;
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

}  // namespace tbem::design
