#include "compiler/design/cover/Covering.h"

#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/choose/FoldedArray.h"
#include "compiler/design/cover/CoverSearch.h"
#include "compiler/design/cover/PairCover.h"
#include "compiler/design/cover/TupleCover.h"
#include "compiler/design/verify/Verify.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace tbem::design {

namespace {

/// Words that a search touches in a second of processor time at least: a Xeon of 2023 does 4e8 to 7e8.
constexpr double kWorkPerSecond = 2.0e8;
/// The clock of what may be searched beyond the time, from the beginning on.
constexpr double kGracePatience = 2;
/// Levels of all factors together for which pairs are counted; their squares are memory.
constexpr std::size_t kMostLevels = 4000;

using Rows = std::vector<std::vector<std::uint32_t>>;

/// n over k, at most `limit`.
std::uint64_t binomial(std::uint64_t n, std::uint64_t k, std::uint64_t limit) {
  if (k > n) return 0;
  std::uint64_t value = 1;
  for (std::uint64_t i = 1; i <= k && value < limit; ++i) value = value * (n - k + i) / i;
  return std::min(value, limit);
}

std::size_t twoLevelRows(std::size_t factors) {
  std::size_t rows = 1;
  while (binomial(rows - 1, (rows + 1) / 2, factors) < factors) ++rows;
  return rows;
}

struct Bound {
  std::uint64_t rows = 0;
  std::string reason;
};

/// Lower bounds of unconstrained pairs beyond the product of the two largest numbers of levels. Levels may be taken together, so
/// what holds for factors of v levels holds for factors of v or more.
Bound pairBound(const std::vector<std::uint32_t>& levels) {
  const auto varying =
      static_cast<std::size_t>(std::count_if(levels.begin(), levels.end(), [](std::uint32_t s) { return s > 1; }));
  Bound best{twoLevelRows(varying), fmt::format("{} factors of two levels or more (Kleitman and Spencer 1973)", varying)};
  for (const std::uint32_t v : levels) {
    const auto factors = std::count_if(levels.begin(), levels.end(), [&](std::uint32_t s) { return s >= v; });
    const std::uint64_t square = std::uint64_t{v} * v;
    if (v < 2 || square < best.rows) continue;
    if (factors >= static_cast<std::ptrdiff_t>(v) + 2)
      best = {square + 1, fmt::format("no OA({}, {}^{}, 2) (Bush 1952)", square, v, v + 2)};
    if (v == 6 && factors >= 4) best = {37, "no two orthogonal Latin squares of order 6 (Tarry 1901)"};
  }
  return best;
}

Bound lowerBound(const Constraints& constraints, std::uint32_t strength, std::uint64_t largestBlock) {
  Bound bound{largestBlock, strength == 1 ? "the largest number of levels"
                                          : fmt::format("the combinations of {} factors that can stand", strength)};
  if (strength == 2 && constraints.empty()) {
    Bound pairs = pairBound(constraints.levels);
    if (pairs.rows > largestBlock) bound = std::move(pairs);
  }
  return bound;
}

struct Found {
  Rows rows;
  std::uint64_t required = 0, largestBlock = 0;
  bool endedByClock = false, tooMany = false;
  std::size_t unsearchedRows = 0;
};

/// The smallest array with dummy levels, over as many as the largest factor has or a few more: it covers what it has to. Nothing
/// where none has fewer than `below` rows.
std::optional<Array> smallestFolded(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t below) {
  constexpr std::uint32_t kMoreLevels = 3;
  const std::uint32_t most = *std::max_element(levels.begin(), levels.end());
  std::optional<Array> best;
  for (std::uint32_t q = std::max(2U, most); q <= most + kMoreLevels; ++q) {
    auto folded = foldedArray(levels, q, strength, below - 1);
    if (!folded) continue;
    below = folded->runs;
    best = std::move(folded);
  }
  return best;
}

template <class Cover>
Found search(Cover cover, ValidRows& valid, std::uint32_t strength, const CoveringOptions& options, std::uint64_t enough) {
  if (valid.gaveUp()) return {};  // what the cover requires is not known
  const auto work = static_cast<std::uint64_t>(options.seconds * kWorkPerSecond);
  Budget budget(work, options.patience * options.seconds);
  CoverSearch<Cover> searching(cover, valid, options.seed, options.progress);
  Found found{{}, cover.required(), cover.largestBlock()};
  Budget grace(work, kGracePatience * options.patience * options.seconds);
  found.tooMany = cover.largestBlock() > options.maxRows;
  if (found.tooMany) return found;
  found.tooMany = !searching.fill(budget, grace, options.maxRows);
  std::optional<Array> folded;
  if (valid.constraints().empty()) folded = smallestFolded(valid.constraints().levels, strength, cover.rows());
  if (folded) {
    found.tooMany = false;
    for (std::size_t r = 0; r < folded->runs; ++r) found.rows.emplace_back(folded->row(r).begin(), folded->row(r).end());
  } else if (!found.tooMany) {
    for (std::size_t r = 0; r < cover.rows(); ++r) found.rows.push_back(cover.row(r));
    found.unsearchedRows = searching.unsearchedRows();
  }
  if (searching.unsearchedRows() == 0 && !found.tooMany) {
    if (folded) {
      while (cover.rows() > 0) cover.drop(cover.rows() - 1);
      for (const auto& row : found.rows) cover.append(row);
    }
    found.rows = searching.shrink(budget, std::max(enough, cover.largestBlock()));
  }
  found.endedByClock = budget.endedByClock() || grace.endedByClock();
  return found;
}

/// Of factors with at most two levels, without constraints.
Found twoLevel(const std::vector<std::uint32_t>& levels) {
  Found found;
  std::vector<std::size_t> varying;
  for (std::size_t f = 0; f < levels.size(); ++f) {
    if (levels[f] > 1) varying.push_back(f);
  }
  for (const auto& narrow : twoLevelCover(varying.size())) {
    found.rows.emplace_back(levels.size(), 0);
    for (std::size_t i = 0; i < varying.size(); ++i) found.rows.back()[varying[i]] = narrow[i];
  }
  for (std::size_t f = 0; f < levels.size(); ++f) {
    for (std::size_t g = f + 1; g < levels.size(); ++g) {
      found.required += std::uint64_t{levels[f]} * levels[g];
      found.largestBlock = std::max(found.largestBlock, std::uint64_t{levels[f]} * levels[g]);
    }
  }
  return found;
}

/// All t-tuples of levels of different factors, valid or not.
std::uint64_t allTuples(const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  std::vector<std::uint64_t> sums(strength + 1, 0);
  sums[0] = 1;
  for (const std::uint32_t s : levels) {
    for (std::uint32_t t = strength; t > 0; --t) sums[t] += sums[t - 1] * s;
  }
  return sums[strength];
}

/// Levels of each factor but for the absence of nested ones.
std::vector<std::uint32_t> valuesOf(const Constraints& constraints) {
  std::vector<std::uint32_t> values = constraints.levels;
  for (const Nested& one : constraints.nested) --values[one.column];
  return values;
}

Covering finish(const Constraints& constraints, std::uint32_t strength, const CoveringOptions& options, Found found,
                std::string construction) {
  Covering result;
  result.strength = strength;
  std::sort(found.rows.begin(), found.rows.end());
  result.array.levels = constraints.levels;
  result.array.nested = constraints.nested;
  result.array.runs = found.rows.size();
  for (const auto& row : found.rows) {
    TBEM_CHECK(constraints.allows(row));
    result.array.cells.insert(result.array.cells.end(), row.begin(), row.end());
  }
  // The search covers absences of nested factors like levels; what it says counts values.
  Array plain = result.array;
  plain.nested.clear();
  if (strength != 0) {
    const std::uint64_t covered = coverage(plain, strength).covered;
    TBEM_CHECK(covered == found.required);
    result.covered = result.array.nested.empty() ? covered : coverage(result.array, strength).covered;
    result.impossible = allTuples(valuesOf(constraints), strength) - result.covered;
  }
  Bound bound = lowerBound(constraints, strength, std::max<std::uint64_t>(1, found.largestBlock));
  result.lowerBound = bound.rows;
  result.boundReason = std::move(bound.reason);
  result.endedByClock = found.endedByClock;
  result.unsearchedRows = found.unsearchedRows;
  std::vector<std::uint32_t> varying;
  const std::vector<std::uint32_t> values = valuesOf(constraints);
  std::copy_if(values.begin(), values.end(), std::back_inserter(varying), [](std::uint32_t s) { return s > 1; });
  result.array.name =
      varying.empty() ? "one row" : fmt::format("covering array CA({}; {}, {})", found.rows.size(), strength, levelText(varying));
  result.array.construction = construction.empty()
                                  ? fmt::format("greedy rows and tabu search, seed {}, {} s", options.seed, options.seconds)
                                  : std::move(construction);
  return result;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> twoLevelCover(std::size_t factors) {
  const std::size_t rows = twoLevelRows(factors);
  Rows cover(rows, std::vector<std::uint32_t>(factors, 0));
  // Columns: the sets of ceil(rows / 2) of the rows but the first. Any two differ, so both differences stand; they are too large
  // to be disjoint; and the first row lies in none.
  if (factors == 0) return cover;
  std::vector<std::uint32_t> ones(rows - 1, 0);
  std::fill(ones.end() - static_cast<std::ptrdiff_t>((rows + 1) / 2), ones.end(), 1);
  for (std::size_t f = 0; f < factors; ++f) {
    for (std::size_t r = 1; r < rows; ++r) cover[r][f] = ones[r - 1];
    std::next_permutation(ones.begin(), ones.end());
  }
  return cover;
}

CoveringChoice coveringArray(const Constraints& constraints, std::uint32_t strength, const CoveringOptions& options) {
  const Constraints rules = simplified(constraints);
  const auto t = std::min<std::uint32_t>(strength, static_cast<std::uint32_t>(rules.levels.size()));
  if (t == 0) return finish(rules, 0, options, {{{}}, 0, 1}, "no factors");
  ValidRows valid(rules);
  if (!valid.anyRow()) return "no row meets the constraints";
  const bool pairs = t == 2;
  std::size_t literals = 0;
  for (const std::uint32_t s : rules.levels) literals += s;
  if (pairs ? literals > kMostLevels : !TupleCover::counters(rules.levels, t)) {
    return fmt::format("strength {} of these factors has too many combinations to count", t);
  }
  const bool twoLevels = std::all_of(rules.levels.begin(), rules.levels.end(), [](std::uint32_t s) { return s <= 2; });
  if (pairs && twoLevels && rules.empty() && literals > rules.levels.size())
    return finish(rules, t, options, twoLevel(rules.levels), "sets of half of the rows (Kleitman and Spencer 1973)");
  const std::uint64_t enough = lowerBound(rules, t, 1).rows;
  Found found =
      pairs ? search(PairCover(valid), valid, t, options, enough) : search(TupleCover(valid, t), valid, t, options, enough);
  if (valid.gaveUp()) return "the constraints are too hard to decide which combinations can stand in a row";
  if (found.tooMany) return fmt::format("a covering array of strength {} would have more than {} rows", t, options.maxRows);
  return finish(rules, t, options, std::move(found), "");
}

}  // namespace tbem::design
