#include "compiler/design/choose/NestedArray.h"

#include "compiler/design/verify/Bounds.h"
#include "compiler/design/verify/Verify.h"
#include "compiler/design/verify/VerifyNested.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;
using Row = std::vector<std::uint32_t>;

/// Columns and slices above which a construction is not tried.
constexpr std::uint64_t kMostLevels = 1000;
constexpr std::size_t kMostSlices = 64, kMostSizes = 40;

/// Factors and what is nested in them.
class Tree {
public:
  Tree(const Levels& levels, const std::vector<Nested>& nested) : levels(levels), nested(nested) {
    for (std::uint32_t f = 0; f < levels.size(); ++f) {
      if (nestingOf(nested, f) == nullptr) roots.push_back(f);
    }
  }
  const Levels& levels;
  const std::vector<Nested>& nested;
  std::vector<std::uint32_t> roots;

  std::uint32_t values(std::uint32_t f) const { return levels[f] - (nestingOf(nested, f) != nullptr ? 1 : 0); }
  /// Factors that exist under this level of `f`.
  std::vector<std::uint32_t> under(std::uint32_t f, std::uint32_t level) const {
    std::vector<std::uint32_t> found;
    for (const Nested& one : nested) {
      if (one.parent == f && std::binary_search(one.under.begin(), one.under.end(), level)) found.push_back(one.column);
    }
    return found;
  }
  bool isParent(std::uint32_t f) const {
    return std::any_of(nested.begin(), nested.end(), [&](const Nested& one) { return one.parent == f; });
  }
  /// Levels of a column that holds the factor and all in it, such that each level of it has as many; more than kMostLevels: too
  /// many.
  std::uint64_t width(std::uint32_t f) const {
    std::uint64_t inner = 1;
    for (std::uint32_t level = 0; level < values(f) && inner <= kMostLevels; ++level) {
      std::uint64_t product = 1;
      for (const std::uint32_t child : under(f, level)) product = std::min(product * width(child), kMostLevels + 1);
      inner = std::min(std::lcm(inner, product), kMostLevels + 1);
    }
    return std::min(inner * values(f), kMostLevels + 1);
  }
  /// Writes what level `index` of that column stands for. Each combination that exists under a level of `f` has as many indices.
  void decode(std::uint32_t f, std::uint64_t index, Row& row) const {
    const std::uint64_t inner = width(f) / values(f);
    row[f] = static_cast<std::uint32_t>(index / inner);
    index %= inner;
    for (const std::uint32_t child : under(f, row[f])) {
      const std::uint64_t w = width(child);
      decode(child, index % w, row);
      index /= w;
    }
  }
  /// All factors absent that can be.
  Row blank() const {
    Row row(levels.size(), 0);
    for (const Nested& one : nested) row[one.column] = levels[one.column] - 1;
    return row;
  }
};

/// Nothing above kMostLevels.
std::optional<Levels> widthsOf(const Tree& tree, const std::vector<std::uint32_t>& factors) {
  Levels widths;
  for (const std::uint32_t f : factors) {
    const std::uint64_t width = tree.width(f);
    if (width > kMostLevels) return std::nullopt;
    widths.push_back(static_cast<std::uint32_t>(width));
  }
  return widths;
}

/// Appends rows: where `base` leaves off, the columns of `array` say what `factors` and all in them are.
void append(Array& out, const Tree& tree, const Row& base, const std::vector<std::uint32_t>& factors, const Array& array) {
  for (std::size_t r = 0; r < array.runs; ++r) {
    Row row = base;
    for (std::size_t i = 0; i < factors.size(); ++i) tree.decode(factors[i], array.at(r, i), row);
    out.cells.insert(out.cells.end(), row.begin(), row.end());
    ++out.runs;
  }
}

Array outline(const Tree& tree) {
  Array array;
  array.levels = tree.levels;
  array.nested = tree.nested;
  return array;
}

/// One column for each factor that is not nested.
Choice inOneArray(const Tree& tree, std::uint32_t strength, const Options& options) {
  const std::optional<Levels> widths = widthsOf(tree, tree.roots);
  if (!widths)
    return Refusal{fmt::format("a factor and what is nested in it have more than {} combinations", kMostLevels), 0, "", {}};
  Choice choice = chooseArray(*widths, strength, options);
  const Array* array = std::get_if<Array>(&choice);
  // Bounds and offers of these columns are not those of the factors.
  if (array == nullptr) return Refusal{std::get<Refusal>(choice).reason, 0, "", {}};
  Array out = outline(tree);
  append(out, tree, tree.blank(), tree.roots, *array);
  out.name = fmt::format("{} with nested columns", array->name);
  out.construction = fmt::format("a column holds a factor with what is nested in it; {}", array->construction);
  return out;
}

/// The factors that exist where some have fixed levels, but for those.
struct Slice {
  Row base;
  std::vector<std::uint32_t> factors;
  Levels widths;
};

/// A slice for each combination of the levels of `split`; none where they are too many.
std::vector<Slice> slicesOf(const Tree& tree, const std::vector<std::uint32_t>& split) {
  std::size_t count = 1;
  for (const std::uint32_t f : split) count *= tree.values(f);
  std::vector<Slice> slices;
  for (std::size_t s = 0; s < count && count <= kMostSlices; ++s) {
    Slice slice{tree.blank(), {}, {}};
    for (const std::uint32_t f : tree.roots) {
      if (std::find(split.begin(), split.end(), f) == split.end()) slice.factors.push_back(f);
    }
    std::size_t rest = s;
    for (std::size_t i = split.size(); i-- > 0;) {
      const std::uint32_t level = static_cast<std::uint32_t>(rest % tree.values(split[i]));
      rest /= tree.values(split[i]);
      slice.base[split[i]] = level;
      for (const std::uint32_t child : tree.under(split[i], level)) slice.factors.push_back(child);
    }
    const std::optional<Levels> widths = widthsOf(tree, slice.factors);
    if (!widths) return {};
    slice.widths = *widths;
    slices.push_back(std::move(slice));
  }
  return slices;
}

/// The arrays of all slices, of `runs` rows each; nothing where one has none.
std::optional<std::map<Levels, Array>> arraysOf(const std::vector<Slice>& slices, std::uint32_t strength, std::uint64_t runs,
                                                std::size_t maxRows) {
  std::map<Levels, Array> arrays;
  for (const Slice& slice : slices) {
    if (arrays.count(slice.widths) != 0) continue;
    Options options;
    options.rows = static_cast<std::int64_t>(runs);
    options.maxRows = maxRows;
    Choice choice = chooseArray(slice.widths, strength, options);
    if (!std::holds_alternative<Array>(choice)) return std::nullopt;
    arrays.emplace(slice.widths, std::move(std::get<Array>(choice)));
  }
  return arrays;
}

/// The numbers of rows that all slices may have in common, the least first; all are below `limit`.
std::vector<std::uint64_t> commonSizes(const std::vector<Slice>& slices, std::uint32_t strength, std::uint64_t limit) {
  std::uint64_t least = 1, step = 1, all = 1;
  for (const Slice& slice : slices) {
    Options options;
    options.maxRows = limit;
    const Choice choice = chooseArray(slice.widths, strength, options);
    const auto* array = std::get_if<Array>(&choice);
    if (array == nullptr) return {};
    Levels varying;
    std::copy_if(slice.widths.begin(), slice.widths.end(), std::back_inserter(varying), [](std::uint32_t s) { return s > 1; });
    least = std::max<std::uint64_t>(least, array->runs);
    step = std::min(std::lcm(step, std::max<std::uint64_t>(1, bounds(varying, strength).divisor)), limit);
    all = std::min(std::lcm(all, std::uint64_t{array->runs}), limit);
  }
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t n = (least + step - 1) / step * step; n < all && n < limit && sizes.size() < kMostSizes; n += step)
    sizes.push_back(n);
  if (all < limit) sizes.push_back(all);
  return sizes;
}

/// An array for each combination of the levels of `split`. Nothing of `below` rows or more, or, where `exactly` says how many, of
/// another number.
std::optional<Array> inSlices(const Tree& tree, const std::vector<std::uint32_t>& split, std::uint32_t strength,
                              std::uint64_t below, std::optional<std::uint64_t> exactly) {
  const std::vector<Slice> slices = slicesOf(tree, split);
  if (slices.empty() || (exactly && *exactly % slices.size() != 0)) return std::nullopt;
  const std::uint64_t limit = (below + slices.size() - 1) / slices.size();
  const std::vector<std::uint64_t> sizes =
      exactly ? std::vector<std::uint64_t>{*exactly / slices.size()} : commonSizes(slices, strength, limit);
  for (const std::uint64_t runs : sizes) {
    const auto arrays = arraysOf(slices, strength, runs, limit);
    if (!arrays) continue;
    Array out = outline(tree);
    for (const Slice& slice : slices) append(out, tree, slice.base, slice.factors, arrays->at(slice.widths));
    out.name = fmt::format("{} nested arrays of {} rows", slices.size(), runs);
    out.construction = "an array for each combination of the levels of the factors that others are nested in";
    return out;
  }
  return std::nullopt;
}

/// Every combination that exists, the last factor fastest among those that exist.
void enumerate(const Tree& tree, std::uint32_t f, Row& row, std::vector<Row>& rows, std::size_t maxRows) {
  if (rows.size() > maxRows) return;
  if (f == tree.levels.size()) return rows.push_back(row);
  const Nested* nesting = nestingOf(tree.nested, f);
  for (std::uint32_t level = 0; level < tree.levels[f]; ++level) {
    row[f] = level;
    if (nesting != nullptr && nesting->parent < f) {
      const bool exists = std::binary_search(nesting->under.begin(), nesting->under.end(), row[nesting->parent]);
      if (exists == (level + 1 == tree.levels[f])) continue;
    }
    // Nested factors that were declared before this one.
    const bool good = std::all_of(tree.nested.begin(), tree.nested.end(), [&](const Nested& one) {
      if (one.parent != f || one.column > f) return true;
      return std::binary_search(one.under.begin(), one.under.end(), level) == (row[one.column] + 1 != tree.levels[one.column]);
    });
    if (good) enumerate(tree, f + 1, row, rows, maxRows);
  }
}

Choice inFull(const Tree& tree, const Options& options) {
  std::vector<Row> rows;
  Row row(tree.levels.size(), 0);
  enumerate(tree, 0, row, rows, options.maxRows);
  if (rows.size() > options.maxRows)
    return Refusal{fmt::format("more than {} combinations of levels exist", options.maxRows), 0, "", {}};
  Array array = outline(tree);
  array.runs = rows.size();
  for (const Row& one : rows) array.cells.insert(array.cells.end(), one.begin(), one.end());
  array.name = "all combinations that exist";
  return array;
}

/// Choices of some factors with others in them, at most two.
std::vector<std::vector<std::uint32_t>> splits(const Tree& tree) {
  std::vector<std::uint32_t> parents;
  std::copy_if(tree.roots.begin(), tree.roots.end(), std::back_inserter(parents),
               [&](std::uint32_t f) { return tree.isParent(f); });
  std::vector<std::vector<std::uint32_t>> all;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    all.push_back({parents[i]});
    for (std::size_t k = i + 1; k < parents.size(); ++k) all.push_back({parents[i], parents[k]});
  }
  return all;
}

}  // namespace

Choice chooseNestedArray(const Levels& levels, const std::vector<Nested>& nested, std::uint32_t strength,
                         const Options& options) {
  const Tree tree(levels, nested);
  strength = std::max<std::uint32_t>(1, strength);
  Choice best = options.full ? inFull(tree, options) : inOneArray(tree, strength, options);
  const auto runs = [&]() { return std::holds_alternative<Array>(best) ? std::get<Array>(best).runs : options.maxRows + 1; };
  if (!options.full && options.arrayName.empty() && !options.seed) {
    std::optional<std::uint64_t> exactly;
    if (options.rows && *options.rows > 0) exactly = static_cast<std::uint64_t>(*options.rows);
    for (const auto& split : splits(tree)) {
      if (exactly && std::holds_alternative<Array>(best)) break;
      if (auto sliced = inSlices(tree, split, strength, runs(), exactly)) best = std::move(*sliced);
    }
  }
  auto* array = std::get_if<Array>(&best);
  if (array == nullptr || options.full) return best;
  array->strength = std::min(strength, static_cast<std::uint32_t>(levels.size()));
  if (countingCost(*array, array->strength) > kMostCounted / 10)
    return Refusal{"its strength would take too long to verify", 0, "", {}};
  if (findNestedImbalance(*array, array->strength))
    return Refusal{fmt::format("the columns of {} do not nest", array->name), 0, "", {}};
  return best;
}

std::vector<Combination> nestingRules(const Levels& levels, const std::vector<Nested>& nested) {
  std::vector<Combination> rules;
  const auto forbid = [&](Literal a, Literal b) { rules.push_back(a.factor < b.factor ? Combination{a, b} : Combination{b, a}); };
  for (const Nested& one : nested) {
    for (std::uint32_t level = 0; level < levels[one.parent]; ++level) {
      if (std::binary_search(one.under.begin(), one.under.end(), level)) {
        forbid({one.parent, level}, {one.column, levels[one.column] - 1});
        continue;
      }
      for (std::uint32_t value = 0; value + 1 < levels[one.column]; ++value) forbid({one.parent, level}, {one.column, value});
    }
  }
  std::sort(rules.begin(), rules.end());
  return rules;
}

}  // namespace tbem::design
