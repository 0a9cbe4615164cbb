#include "compiler/design/Catalogue.h"

#include "compiler/design/Hadamard.h"
#include "compiler/design/LinearArrays.h"
#include "compiler/design/SpecialArrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

constexpr std::size_t kMostVariants = 120;     // arrays of one size that larger ones are made of
constexpr std::size_t kMostArrays = 250;       // base arrays of one size
constexpr std::uint64_t kLargestVaried = 200;  // runs up to which all variants are tried
constexpr std::uint64_t kMostLevels = 65536;
constexpr std::size_t kMostStates = 4000;    // of one search
constexpr std::size_t kMostEffort = 20'000;  // of all searches of a catalogue

std::uint64_t freedoms(const Columns& columns) {
  std::uint64_t sum = 0;
  for (const auto& [s, count] : columns) sum += (s - 1) * count;
  return sum;
}

bool contains(const Columns& outer, const Columns& inner) {
  return std::all_of(inner.begin(), inner.end(), [&](const auto& entry) {
    const auto at = outer.find(entry.first);
    return at != outer.end() && at->second >= entry.second;
  });
}

void remove(Columns& columns, std::uint32_t levels, std::uint64_t count) {
  const auto at = columns.find(levels);
  at->second -= count;
  if (at->second == 0) columns.erase(at);
}

void add(Columns& columns, const Columns& more, std::uint64_t times) {
  for (const auto& [s, count] : more) columns[s] += count * times;
}

Levels listed(const Columns& columns) {
  Levels levels;
  for (const auto& [s, count] : columns) levels.insert(levels.end(), count, s);
  return levels;
}

BaseArray single(std::uint64_t runs) {
  return {runs, {{static_cast<std::uint32_t>(runs), 1}}, fmt::format("{} levels", runs), [runs]() -> std::optional<Array> {
            Array array;
            array.levels = {static_cast<std::uint32_t>(runs)};
            array.runs = runs;
            for (std::uint32_t r = 0; r < runs; ++r) array.cells.push_back(r);
            return array;
          }};
}

/// The composite with `times` columns of `levels` levels replaced; a base that is that one column gives way.
Composite replaced(const Composite& composite, std::uint32_t levels, std::uint64_t times, const BaseArray& by) {
  Composite result = composite;
  remove(result.columns, levels, times);
  add(result.columns, by.columns, times);
  if (composite.replacements.empty() && composite.base.runs == levels) {
    result.base = by;
  } else {
    result.replacements.push_back({levels, times, by});
  }
  return result;
}

/// Rows (i, j), i < n, j < m, over an array A of n runs (Wang and Wu 1991; Hedayat, Sloane, Stufken, section 6.3): i; j; and for
/// each column a of A and each column d but the zero one of a difference scheme over its levels, a(i) + d(j). For a fixed j the
/// first is uniform, for a fixed i the second, in every pair.
Columns kroneckerColumns(DifferenceSchemes& schemes, std::uint32_t n, std::uint32_t m, const Columns& a) {
  Columns columns;
  ++columns[n];
  ++columns[m];
  for (const auto& [s, count] : a) {
    if (const std::uint32_t c = schemes.columns(m, s); c > 1) columns[s] += count * (c - 1);
  }
  return columns;
}

/// "difference scheme D(6, 6, 3)", "difference schemes D(12, 12, 2), D(12, 12, 3) over 2^1 3^1".
std::string kroneckerWords(DifferenceSchemes& schemes, std::uint32_t n, std::uint32_t m, const Columns& a) {
  std::string parts;
  std::size_t count = 0;
  for (const auto& entry : a) {
    const std::uint32_t c = schemes.columns(m, entry.first);
    if (c == 1) continue;
    parts += fmt::format("{}D({}, {}, {})", count++ == 0 ? "" : ", ", m, c, entry.first);
  }
  if (count == 0) return fmt::format("every combination of {} and {} levels", n, m);
  const Levels levels = listed(a);
  return fmt::format("difference scheme{} {}{}", count == 1 ? "" : "s", parts,
                     levels.size() == 1 ? "" : fmt::format(" over {} runs of {}", n, levelText(levels)));
}

std::optional<Array> kroneckerArray(std::uint32_t n, std::uint32_t m, const Composite& a) {
  DifferenceSchemes schemes;
  const Levels levels = listed(a.columns);
  const auto array = build(a, levels, 2);
  if (!array) return std::nullopt;
  Array result;
  result.runs = std::size_t{n} * m;
  std::map<std::uint32_t, DifferenceScheme> scheme;
  for (const std::uint32_t s : levels) {
    const std::uint32_t c = schemes.columns(m, s);
    if (scheme.count(s) == 0) scheme.emplace(s, schemes.build(m, c, s));
    result.levels.insert(result.levels.end(), c - 1, s);
  }
  result.levels.push_back(n);
  result.levels.push_back(m);
  result.cells.resize(result.runs * result.columns());
  std::size_t column = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const DifferenceScheme& d = scheme.at(levels[l]);
    const LevelGroup group(levels[l]);
    Levels sums(std::size_t{levels[l]} * levels[l]);
    for (std::size_t x = 0; x < sums.size(); ++x)
      sums[x] = group.add(static_cast<std::uint32_t>(x / levels[l]), static_cast<std::uint32_t>(x % levels[l]));
    for (std::uint32_t c = 1; c < d.columns; ++c, ++column) {
      for (std::size_t r = 0; r < result.runs; ++r)
        result.at(r, column) = sums[array->at(r % n, l) * levels[l] + d.at(static_cast<std::uint32_t>(r / n), c)];
    }
  }
  for (std::size_t r = 0; r < result.runs; ++r) {
    result.at(r, column) = static_cast<std::uint32_t>(r % n);
    result.at(r, column + 1) = static_cast<std::uint32_t>(r / n);
  }
  return result;
}

/// Rows (i, j), i < n, j < m, over an array A of n runs and n - 1 two-level columns and an array C of m runs with a two-level
/// column u: (i, u(j)) as one column of 2 n levels, the other columns of C, and a(i) + d(j) for the columns d but 0 and u of a
/// Hadamard matrix with u as a column: they are uniform for each value of u.
std::optional<Array> mergedArray(std::uint32_t n, std::uint32_t m, const Composite& c) {
  const Levels levels = listed(c.columns);
  const auto array = build(c, levels, 2);
  if (!array) return std::nullopt;
  Levels u(m);
  for (std::uint32_t j = 0; j < m; ++j) u[j] = array->at(j, 0);  // the levels are ascending: column 0 has two
  const DifferenceScheme d = hadamardWith(m, u);
  const HadamardMatrix a = *hadamard(n);
  Array result;
  result.runs = std::size_t{n} * m;
  result.levels.assign(std::size_t{n - 1} * (m - 2), 2);
  result.levels.insert(result.levels.end(), levels.begin() + 1, levels.end());
  result.levels.push_back(2 * n);
  result.cells.resize(result.runs * result.columns());
  for (std::uint32_t r = 0; r < result.runs; ++r) {
    const std::uint32_t i = r % n, j = r / n;
    std::size_t column = 0;
    for (std::uint32_t l = 1; l < n; ++l) {
      for (std::uint32_t k = 2; k < m; ++k) result.at(r, column++) = (a.at(i, l) > 0 ? 0U : 1U) ^ d.at(j, k);
    }
    for (std::size_t k = 1; k < levels.size(); ++k) result.at(r, column++) = array->at(j, k);
    result.at(r, column) = i + n * u[j];
  }
  return result;
}

/// Rows (i, j) of an array A and an array B: columns of both as pairs while there are, a level of A times the levels of B plus
/// one of B, then the rest (MacNeish 1922, Bush 1952). Of the strength of both.
std::optional<Array> productArray(const BaseArray& a, const BaseArray& b, bool paired) {
  const auto first = a.build(), second = b.build();
  if (!first || !second) return std::nullopt;
  const std::size_t pairs = paired ? std::min(first->columns(), second->columns()) : 0;
  Array result;
  result.runs = first->runs * second->runs;
  for (std::size_t c = 0; c < pairs; ++c) result.levels.push_back(first->levels[c] * second->levels[c]);
  result.levels.insert(result.levels.end(), first->levels.begin() + static_cast<std::ptrdiff_t>(pairs), first->levels.end());
  result.levels.insert(result.levels.end(), second->levels.begin() + static_cast<std::ptrdiff_t>(pairs), second->levels.end());
  for (std::size_t r = 0; r < result.runs; ++r) {
    const std::size_t i = r / second->runs, j = r % second->runs;
    for (std::size_t c = 0; c < pairs; ++c) result.cells.push_back(first->at(i, c) * second->levels[c] + second->at(j, c));
    for (std::size_t c = pairs; c < first->columns(); ++c) result.cells.push_back(first->at(i, c));
    for (std::size_t c = pairs; c < second->columns(); ++c) result.cells.push_back(second->at(j, c));
  }
  return result;
}

/// The columns of a pair of arrays of equal levels each, paired.
Columns pairedColumns(const Columns& a, const Columns& b) {
  const auto& [s, k] = *a.begin();
  const auto& [u, l] = *b.begin();
  Columns columns{{s * u, std::min(k, l)}};
  if (k > l) columns[s] += k - l;
  if (l > k) columns[u] += l - k;
  return columns;
}

/// OA(2 m n, 2^(n-1) (2 m), 3) from a Hadamard matrix of order n, less its constant column: half of the levels of the wide column
/// hold it, the others its negative (Brouwer, Cohen and Nguyen 2006).
std::optional<Array> wideFoldover(std::uint32_t n, std::uint32_t m) {
  const auto h = hadamard(n);
  if (!h) return std::nullopt;
  Array array;
  array.runs = std::size_t{2} * m * n;
  array.levels.assign(n - 1, 2);
  array.levels.push_back(2 * m);
  for (std::uint32_t r = 0; r < array.runs; ++r) {
    const std::uint32_t level = r / n;
    for (std::uint32_t c = 1; c < n; ++c) array.cells.push_back((h->at(r % n, c) > 0 ? 0U : 1U) ^ (level & 1));
    array.cells.push_back(level);
  }
  return array;
}

/// Largest first; without those whose columns another has.
void keepLargest(std::vector<BaseArray>& arrays) {
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const BaseArray& a, const BaseArray& b) { return freedoms(a.columns) > freedoms(b.columns); });
  std::vector<BaseArray> kept;
  for (BaseArray& array : arrays) {
    const bool part =
        std::any_of(kept.begin(), kept.end(), [&](const BaseArray& other) { return contains(other.columns, array.columns); });
    if (!part && kept.size() < kMostArrays) kept.push_back(std::move(array));
  }
  arrays = std::move(kept);
}

}  // namespace

std::vector<BaseArray> Catalogue::arraysOfStrengthTwo(std::uint64_t runs) {
  std::vector<BaseArray> found = specialArrays(runs);
  if (runs >= 4 && runs <= kLargestHadamard && !hadamardConstruction(static_cast<std::uint32_t>(runs)).empty()) {
    const auto order = static_cast<std::uint32_t>(runs);
    found.push_back({runs, {{2, runs - 1}}, fmt::format("Hadamard matrix of order {}", runs), [order] {
                       return hadamardArray(order, order - 1);
                     }});
  }
  if (runs == 72) {
    for (const Composite& twelve : variants(12)) {
      if (twelve.columns.count(2) != 0) found.push_back(extendedTwelve(twelve));
    }
  }
  for (std::uint64_t divisor = 2; divisor <= runs / 2; ++divisor) {
    if (runs % divisor != 0 || divisor > kMostLevels || runs / divisor > kMostLevels) continue;
    const auto n = static_cast<std::uint32_t>(divisor), m = static_cast<std::uint32_t>(runs / divisor);
    for (const Composite& a : variants(n)) {
      found.push_back({runs, kroneckerColumns(schemes, n, m, a.columns), kroneckerWords(schemes, n, m, a.columns),
                       [n, m, a] { return kroneckerArray(n, m, a); }});
    }
    if ((n & (n - 1)) != 0 || m % 4 != 0 || m > kLargestHadamard || hadamardConstruction(m).empty()) continue;
    for (const Composite& c : variants(m)) {
      const auto twos = c.columns.find(2);
      if (twos == c.columns.end()) continue;
      Columns columns = c.columns;
      remove(columns, 2, 1);
      ++columns[2 * n];
      columns[2] += std::uint64_t{n - 1} * (m - 2);
      found.push_back({runs, columns,
                       fmt::format("Hadamard matrix of order {} over {} runs of {}, with {} levels from {} and 2", m, n,
                                   levelText(listed(Columns{{2, n - 1}})), 2 * n, n),
                       [n, m, c] { return mergedArray(n, m, c); }});
    }
  }
  return found;
}

std::vector<BaseArray> Catalogue::arraysOfHigherStrength(std::uint64_t runs) {
  std::vector<BaseArray> found = codeArrays(runs, strength);
  if (strength == 3) {
    for (BaseArray& array : specialArraysOfStrengthThree(runs)) found.push_back(std::move(array));
    if (runs % 8 == 0 && runs / 2 <= kLargestHadamard && !hadamardConstruction(static_cast<std::uint32_t>(runs / 2)).empty()) {
      const auto rows = static_cast<std::uint32_t>(runs);
      found.push_back({runs, {{2, runs / 2}}, fmt::format("Hadamard matrix of order {} and its negative", runs / 2), [rows] {
                         return foldoverArray(rows, rows / 2);
                       }});
    }
    for (std::uint32_t n = 4; n <= kLargestHadamard && std::uint64_t{4} * n <= runs; n += 4) {
      if (runs % (std::uint64_t{2} * n) != 0 || hadamardConstruction(n).empty()) continue;
      const auto m = static_cast<std::uint32_t>(runs / 2 / n);
      found.push_back({runs, columnsOf(Levels{2 * m}),
                       fmt::format("Hadamard matrix of order {} and its negative, {} times", n, m),
                       [n, m] { return wideFoldover(n, m); }});
      found.back().columns[2] += n - 1;
    }
  }
  for (std::uint64_t n = 2; n <= runs / 2; ++n) {
    if (runs % n != 0 || n > kMostLevels || runs / n > kMostLevels) continue;
    const std::uint64_t m = runs / n;
    if (n <= m) {
      found.push_back({runs, {}, fmt::format("every combination of {} and {} levels", n, m), [n, m] {
                         return productArray(single(n), single(m), false);
                       }});
      ++found.back().columns[static_cast<std::uint32_t>(n)];
      ++found.back().columns[static_cast<std::uint32_t>(m)];
    }
    for (const BaseArray& a : arrays(n)) {
      for (const BaseArray& b : arrays(m)) {
        if (a.columns.size() != 1 || b.columns.size() != 1 || n > m) continue;
        found.push_back({runs, pairedColumns(a.columns, b.columns), fmt::format("product of {} and {}", a.words, b.words),
                         [a, b] { return productArray(a, b, true); }});
      }
    }
  }
  return found;
}

const std::vector<BaseArray>& Catalogue::arrays(std::uint64_t runs) {
  const auto at = known.find(runs);
  if (at != known.end()) return at->second;
  std::vector<BaseArray> found;
  if (strength == 2) found = arraysOfStrengthTwo(runs);
  if (strength > 2) found = arraysOfHigherStrength(runs);
  keepLargest(found);
  return known[runs] = std::move(found);
}

const std::vector<Composite>& Catalogue::variants(std::uint64_t runs) {
  const auto at = knownVariants.find(runs);
  if (at != knownVariants.end()) return at->second;
  const BaseArray one = single(runs);
  std::vector<Composite> found{{one, {}, one.columns}};
  std::set<Columns> seen{one.columns};
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0 && runs > kLargestVaried) break;
    const Composite from = found[i];
    for (const auto& [s, count] : from.columns) {
      for (const BaseArray& by : arrays(s)) {
        if (found.size() >= kMostVariants) break;
        Composite next = replaced(from, s, 1, by);
        if (seen.insert(next.columns).second) found.push_back(std::move(next));
      }
    }
  }
  return knownVariants[runs] = std::move(found);
}

namespace {

/// Depth-first search for replacements that leave the wanted columns.
class Search {
public:
  Search(Catalogue& catalogue, std::size_t most) : catalogue(catalogue), most(most) {}

  bool reach(const Composite& composite, Columns wanted, std::uint32_t depth) {
    Columns free = composite.columns;
    for (const auto& [s, count] : composite.columns) {
      const auto at = wanted.find(s);
      if (at == wanted.end()) continue;
      const std::uint64_t exact = std::min(count, at->second);
      remove(free, s, exact);
      remove(wanted, s, exact);
    }
    if (wanted.empty()) {
      found = composite;
      return true;
    }
    if (depth >= kDeepest || freedoms(wanted) > freedoms(free) || nodes >= most) return false;
    ++nodes;
    if (!failed.insert({free, wanted}).second) return false;
    const auto& [level, count] = *wanted.rbegin();
    for (const auto& [s, available] : free) {
      if (s <= level || s % level != 0) continue;
      for (const BaseArray& by : catalogue.arrays(s)) {
        const auto direct = by.columns.find(level);
        const std::uint64_t gain = direct == by.columns.end() ? 1 : direct->second;
        const std::uint64_t times = std::max<std::uint64_t>(1, std::min(available, count / gain));
        if (reach(replaced(composite, s, times, by), allWanted(composite, wanted, free), depth + 1)) return true;
      }
    }
    return false;
  }

  std::optional<Composite> found;
  std::size_t nodes = 0;

private:
  static constexpr std::uint32_t kDeepest = 40;

  Catalogue& catalogue;
  std::size_t most;
  std::set<std::pair<Columns, Columns>> failed;

  /// What the next composite is to have: the columns still open, and those that are matched and stay.
  static Columns allWanted(const Composite& composite, const Columns& open, const Columns& free) {
    Columns wanted = composite.columns;
    for (const auto& [s, count] : free) remove(wanted, s, count);
    add(wanted, open, 1);
    return wanted;
  }
};

}  // namespace

std::optional<Composite> Catalogue::find(std::uint64_t runs, const Columns& wanted) {
  if (freedoms(wanted) >= runs) return std::nullopt;
  for (const BaseArray& base : arrays(runs)) {
    if (contains(base.columns, wanted)) return Composite{base, {}, base.columns};
  }
  Search search(*this, std::min(kMostStates, kMostEffort - std::min(effort, kMostEffort)));
  for (const BaseArray& base : arrays(runs)) {
    if (search.reach({base, {}, base.columns}, wanted, 0)) break;
  }
  effort += search.nodes;
  return search.found;
}

}  // namespace tbem::design
