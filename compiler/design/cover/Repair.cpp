#include "compiler/design/cover/Repair.h"

#include "compiler/design/array/ColumnChoice.h"
#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/choose/FoldedArray.h"
#include "compiler/design/choose/NestedArray.h"
#include "compiler/design/cover/Covering.h"
#include "compiler/design/rows/Exchange.h"
#include "compiler/design/rows/Relabel.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tbem::design {

namespace {

/// Rows that relabelling looks at in a second, and numbers that exchange multiplies.
constexpr double kChecksPerSecond = 5e6, kProductsPerSecond = 2e8;
constexpr std::size_t kMostIsomorphs = 12, kMostTimesLarger = 4;

struct Task {
  const Constraints& constraints;
  const Basis& basis;
  const ModelRows model;
  const RowFilter filter;
  ValidRows valid;
  const RepairOptions& options;
  double reference = 0;  ///< D-efficiency of the unconstrained array

  Task(const Constraints& constraints, const Basis& basis, const RepairOptions& options)
      : constraints(constraints), basis(basis), model(basis), filter(constraints), valid(constraints), options(options) {}
};

Array validPart(const Array& array, const RowFilter& filter) {
  Array kept;
  kept.levels = array.levels;
  kept.nested = array.nested;
  for (std::size_t r = 0; r < array.runs; ++r) {
    const auto row = array.row(r);
    if (!filter.allows(row)) continue;
    kept.cells.insert(kept.cells.end(), row.begin(), row.end());
    ++kept.runs;
  }
  return kept;
}

/// Starts of an exchange of so many rows that the time allows, at least two.
int startsFor(const Task& task, std::size_t free, std::size_t runs) {
  const auto p = static_cast<double>(task.model.size());
  double cells = 0;
  for (const std::uint32_t s : task.constraints.levels) cells += s;
  const double once = 4.0 * static_cast<double>(free) * (p * p * (static_cast<double>(runs) + p + 3 * cells));
  return static_cast<int>(std::clamp(task.options.seconds * kProductsPerSecond / std::max(1.0, once), 2.0, 30.0));
}

double largestCorrelation(const Task& task, const Array& array) {
  Eigen::MatrixXd x = task.model.matrix(array);
  x.rowwise() -= x.colwise().mean().eval();
  double largest = 0;
  for (Eigen::Index a = 0; a < x.cols(); ++a) {
    for (Eigen::Index b = 0; b < a; ++b) {
      const auto& parts = [&](Eigen::Index c) -> const std::vector<Part>& {
        return task.basis.terms()[task.basis.columns()[static_cast<std::size_t>(c)].term].parts;
      };
      const auto same = [](const Part& one, const Part& other) { return one.factor == other.factor; };
      if (std::equal(parts(a).begin(), parts(a).end(), parts(b).begin(), parts(b).end(), same)) continue;
      const double norms = x.col(a).norm() * x.col(b).norm();
      if (norms > 1e-12) largest = std::max(largest, std::abs(x.col(a).dot(x.col(b))) / norms);
    }
  }
  return largest;
}

/// Levels but for absences of nested factors.
std::vector<std::uint32_t> valuesIn(const Constraints& constraints) {
  std::vector<std::uint32_t> values = constraints.levels;
  for (const Nested& one : constraints.nested) --values[one.column];
  return values;
}

/// Triples of levels that can stand in a valid row; nothing where there are too many to ask for each.
std::optional<std::uint64_t> triplesThatCanStand(Task& task) {
  constexpr std::uint64_t kMostTriples = 200'000;
  const std::vector<std::uint32_t> levels = valuesIn(task.constraints);
  std::uint64_t all = 0, possible = 0;
  std::vector<std::uint32_t> chosen{0, 1, 2};
  if (levels.size() < 3) return std::nullopt;
  do {
    all += std::uint64_t{levels[chosen[0]]} * levels[chosen[1]] * levels[chosen[2]];
    if (all > kMostTriples) return std::nullopt;
  } while (nextChoice(chosen, static_cast<std::uint32_t>(levels.size())));
  chosen = {0, 1, 2};
  do {
    Literal triple[] = {{chosen[0], 0}, {chosen[1], 0}, {chosen[2], 0}};
    for (triple[0].level = 0; triple[0].level < levels[chosen[0]]; ++triple[0].level) {
      for (triple[1].level = 0; triple[1].level < levels[chosen[1]]; ++triple[1].level) {
        for (triple[2].level = 0; triple[2].level < levels[chosen[2]]; ++triple[2].level)
          possible += task.valid.possible(triple) ? 1 : 0;
      }
    }
  } while (nextChoice(chosen, static_cast<std::uint32_t>(levels.size())));
  return possible;
}

std::uint64_t pairsThatCanStand(Task& task) {
  std::uint64_t pairs = 0;
  const std::vector<std::uint32_t> levels = valuesIn(task.constraints);
  for (std::uint32_t f = 0; f < levels.size(); ++f) {
    for (std::uint32_t g = f + 1; g < levels.size(); ++g) {
      for (std::uint32_t a = 0; a < levels[f]; ++a) {
        for (std::uint32_t b = 0; b < levels[g]; ++b) {
          const Literal both[] = {{f, a}, {g, b}};
          pairs += task.valid.possible(both) ? 1 : 0;
        }
      }
    }
  }
  return pairs;
}

Repaired judged(Task& task, Array array) {
  Repaired result;
  for (std::size_t r = 0; r < array.runs; ++r) TBEM_CHECK(task.filter.allows(array.row(r)));
  result.quality = modelQuality(task.basis, pointsOf(task.basis.factors(), array));
  result.relative = task.reference > 0 ? result.quality.dEfficiency / task.reference : 0;
  result.pairs = {coverage(array, 2).covered, pairsThatCanStand(task)};
  if (const auto triples = triplesThatCanStand(task)) result.triples = {coverage(array, 3).covered, *triples};
  result.coincidences = rowCoincidences(array);
  result.correlation = largestCorrelation(task, array);
  result.array = std::move(array);
  return result;
}

bool estimable(const Repaired& repaired) { return repaired.quality.rank == repaired.quality.parameters; }

/// Relabelling, then exchange of what is still lost.
Repaired mend(Task& task, const Array& array, Random& random) {
  const auto checks = static_cast<std::uint64_t>(task.options.seconds * kChecksPerSecond);
  const std::vector<Array> isomorphs = relabelled(array, task.filter, checks, kMostIsomorphs, random);
  const std::size_t kept = validPart(isomorphs.front(), task.filter).runs;
  std::optional<Exchanged> best;
  for (const Array& isomorph : isomorphs) {
    const std::size_t free = array.runs - kept;
    const int starts = std::max(1, startsFor(task, free, array.runs) / static_cast<int>(isomorphs.size()));
    Exchanged one = appendRows(validPart(isomorph, task.filter), free, task.model, task.valid, starts, random);
    if (!best || one.objective > best->objective) best = std::move(one);
  }
  best->array.strength = kept == array.runs ? array.strength : 0;
  Repaired result = judged(task, std::move(best->array));
  result.rung = kept == array.runs ? Rung::Relabelled : Rung::Exchanged;
  result.from = array.name;
  result.fromRows = array.runs;
  result.kept = kept;
  result.lost = array.runs - validPart(array, task.filter).runs;
  result.array.name = kept == array.runs ? fmt::format("{} relabelled", array.name)
                                         : fmt::format("{} with {} row{} exchanged", array.name, array.runs - kept,
                                                       array.runs - kept == 1 ? "" : "s");
  result.array.construction = array.construction;
  return result;
}

/// A covering array, and rows for the model beside it.
std::optional<Repaired> augmented(Task& task, std::size_t rows, Random& random) {
  const CoveringChoice choice =
      coveringArray(task.constraints, task.options.strength,
                    {.seed = task.options.seed, .seconds = task.options.seconds, .progress = task.options.progress});
  const auto* covering = std::get_if<Covering>(&choice);
  if (covering == nullptr) return std::nullopt;
  const std::size_t total = std::max({rows, covering->array.runs, task.model.size() + 1});
  const std::size_t free = total - covering->array.runs;
  Exchanged found = appendRows(covering->array, free, task.model, task.valid, startsFor(task, free, total), random);
  Repaired result = judged(task, std::move(found.array));
  result.rung = Rung::Augmented;
  result.array.name = free == 0 ? covering->array.name : fmt::format("{} and {} rows for the model", covering->array.name, free);
  result.array.construction = covering->array.construction;
  return result;
}

/// Arrays of the same factors with more rows, the fewest first: of two to kMostTimesLarger times as many, and those of equal
/// numbers of levels that hold these with dummy levels.
std::vector<std::pair<Array, Rung>> nextArrays(const Array& array, std::uint32_t strength) {
  constexpr std::uint32_t kMoreLevels = 2;
  std::vector<std::pair<Array, Rung>> found;
  Options options;
  options.maxRows = kMostTimesLarger * array.runs;
  for (std::size_t times = 2; times <= kMostTimesLarger; ++times) {
    options.rows = static_cast<std::int64_t>(times * array.runs);
    Choice choice = array.nested.empty() ? chooseArray(array.levels, strength, options)
                                         : chooseNestedArray(array.levels, array.nested, strength, options);
    if (auto* next = std::get_if<Array>(&choice)) found.emplace_back(std::move(*next), Rung::Larger);
  }
  const std::uint32_t most = array.levels.empty() ? 0 : *std::max_element(array.levels.begin(), array.levels.end());
  const bool equal = std::all_of(array.levels.begin(), array.levels.end(), [&](std::uint32_t s) { return s == most; });
  for (std::uint32_t q = equal ? most + 1 : most; array.nested.empty() && q <= most + kMoreLevels; ++q) {
    auto folded = foldedArray(array.levels, q, strength, options.maxRows);
    if (folded && folded->runs > array.runs) found.emplace_back(std::move(*folded), Rung::Dummy);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first.runs < b.first.runs; });
  return found;
}

}  // namespace

Repair repair(const Array& array, const Constraints& constraints, const Basis& model, const RepairOptions& options) {
  Task task(constraints, model, options);
  if (!task.valid.anyRow()) return "no row meets the constraints";
  task.reference = modelQuality(model, pointsOf(model.factors(), array)).dEfficiency;
  Random random(options.seed);
  Repaired first = mend(task, array, random);
  if (estimable(first)) return first;
  std::string missing = first.quality.dependent.empty() ? "" : first.quality.dependent.front();
  if (!options.fixedRows) {
    for (auto& [next, rung] : nextArrays(array, options.strength)) {
      Repaired found = mend(task, next, random);
      found.rung = rung;
      if (estimable(found)) return found;
    }
    if (std::optional<Repaired> found = augmented(task, array.runs, random)) {
      if (estimable(*found)) return std::move(*found);
      if (!found->quality.dependent.empty()) missing = found->quality.dependent.front();
    }
  }
  return fmt::format("{} rows that meet the constraints give the model rank {} of {}{}",
                     options.fixedRows ? fmt::format("{}", array.runs) : "the", first.quality.rank, first.quality.parameters,
                     missing.empty() ? "" : ": " + missing);
}

}  // namespace tbem::design
