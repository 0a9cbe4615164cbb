#include "compiler/experiment/designs/DesignFilter.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Design.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/experiment/designs/DesignFile.h"
#include "compiler/experiment/designs/DesignRepair.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace tbem::driver {

namespace {

/// Whether it says that a condition does not hold, and not that the program is wrong.
bool isCondition(const Diagnostic& one) {
  static constexpr Diag kConditions[] = {diag::pre_violated,     diag::post_violated,          diag::requirement_violated,
                                         diag::shape_mismatch,   diag::dimension_not_positive, diag::dimension_fractional,
                                         diag::assertion_failed, diag::outside_domain};
  return std::find(std::begin(kConditions), std::end(kConditions), one.kind) != std::end(kConditions);
}

/// Builds all rows. False where one cannot be built for a reason that is no condition, which is reported.
bool findBroken(Workspace& workspace, DesignRun& run, Filtering& found) {
  DiagnosticSink& sink = workspace.session.sink;
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    bool isBuilt = false;
    const std::deque<Diagnostic> told = reportsOf(sink, [&] { isBuilt = run.experiment->row(run.rows[i]).has_value(); });
    const auto error =
        std::find_if(told.begin(), told.end(), [](const Diagnostic& one) { return one.severity == Severity::Error; });
    if (!isBuilt && error != told.end() && isCondition(*error)) {
      found.rows.push_back({i, error->message, std::string(info(error->kind).code)});
      continue;
    }
    for (const Diagnostic& one : told) sink.append(one);
    if (!isBuilt) return false;
  }
  return true;
}

bool leavesOut(const Filtering& found, std::size_t row) {
  return std::ranges::binary_search(found.rows, row, {}, &Filtering::Row::row);
}

design::Array arrayLeft(const DesignRun& run, const Filtering& found) {
  design::Array left = design::blankArray(0, run.array.levels);
  left.nested = run.array.nested;
  for (std::size_t r = 0; r < run.array.runs; ++r) {
    if (leavesOut(found, r)) continue;
    const auto row = run.array.row(r);
    left.cells.insert(left.cells.end(), row.begin(), row.end());
    ++left.runs;
  }
  left.name = fmt::format("{} of the {} rows of {}", left.runs, run.array.runs, run.array.name);
  left.construction = run.array.construction;
  return left;
}

/// What the rows' going does.
void compare(const Workspace& workspace, const DesignRun& run, const design::Array& left, Filtering& found) {
  constexpr std::uint32_t kMostStrength = 4;
  found.from = run.array.name;
  found.fromRows = run.array.runs;
  const auto strengthOf = [&](const design::Array& array) {
    const auto limit = std::min<std::uint32_t>(kMostStrength, static_cast<std::uint32_t>(array.columns()));
    return design::countingCost(array, limit) > design::kMostCounted ? 0 : design::measuredStrength(array, limit);
  };
  found.strengthBefore = strengthOf(run.array);
  found.strength = strengthOf(left);
  found.pairsBefore = design::coverage(run.array, 2);
  found.pairs = design::coverage(left, 2);
  found.imbalance = design::largestImbalance(left);
  const design::Basis model = modelOf(workspace, run);
  found.modelBefore = design::modelQuality(model, design::pointsOf(model.factors(), run.array));
  found.model = design::modelQuality(model, design::pointsOf(model.factors(), left));
}

/// "3, 7 and 9 more".
std::string rowsText(const std::vector<std::size_t>& rows) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", rows[i] + 1);
  return rows.size() <= kShown ? text : fmt::format("{} and {} more", text, rows.size() - kShown);
}

/// The conditions, each with the rows that break it, in order of the first.
void noteConditions(Diagnostic& told, const Filtering& found) {
  constexpr std::size_t kShown = 6;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> conditions;
  for (const Filtering::Row& one : found.rows) {
    const std::string text = fmt::format("{} ({})", one.condition, one.code);
    auto known = std::find_if(conditions.begin(), conditions.end(), [&](const auto& each) { return each.first == text; });
    if (known == conditions.end()) known = conditions.insert(conditions.end(), {text, {}});
    known->second.push_back(one.row);
  }
  for (std::size_t i = 0; i < std::min(kShown, conditions.size()); ++i)
    told.note(fmt::format("row{} {}: {}", conditions[i].second.size() == 1 ? "" : "s", rowsText(conditions[i].second),
                          conditions[i].first));
  if (conditions.size() > kShown) told.note(fmt::format("and {} more conditions", conditions.size() - kShown));
}

std::string imbalanceText(const DesignRun& run, const design::Imbalance& imbalance) {
  return fmt::format("{} stands {} times, where {:.3g} would be even", combinationText(run.spec, imbalance), imbalance.count,
                     imbalance.expected.toDouble());
}

void report(Workspace& workspace, const DesignRun& run, const Filtering& found) {
  Diagnostic& told =
      workspace.session.sink.report(diag::filter_leaves_out, run.spec.decl->filterRange, found.rows.size(), run.rows.size());
  noteConditions(told, found);
  told.note(fmt::format("strength {}, before {}; pairs of levels {} of {}, before {}", found.strength, found.strengthBefore,
                        found.pairs.covered, found.pairs.total, found.pairsBefore.covered));
  if (found.imbalance) told.note("least even: " + imbalanceText(run, *found.imbalance));
  told.note(fmt::format("the model: rank {} of {}, D-efficiency {:.3f}, before {:.3f}", found.model.rank, found.model.parameters,
                        found.model.dEfficiency, found.modelBefore.dEfficiency));
  told.note("a `where` that no row breaks keeps what the array has: `tbemc spec` proposes one");
}

}  // namespace

bool filterRows(Workspace& workspace, DesignRun& run) {
  const SrcRange range = run.spec.decl->filterRange;
  if (!run.spec.decl->filter) return true;
  if (run.experiment == nullptr) {
    workspace.session.sink.report(diag::design_clause_value, range, "filter", "a design of a network", "one that builds none");
    return false;
  }
  Filtering found;
  if (!findBroken(workspace, run, found)) return false;
  if (found.rows.empty()) return true;
  std::erase_if(run.chosen, [&](std::size_t row) { return leavesOut(found, row); });
  if (run.chosen.empty()) {
    noteConditions(workspace.session.sink.report(diag::filter_leaves_none, range, run.spec.name), found);
    return false;
  }
  design::Array left = arrayLeft(run, found);
  compare(workspace, run, left, found);
  report(workspace, run, found);
  run.array = std::move(left);
  run.covering.reset();  // what they say is of rows that are gone
  run.repaired.reset();
  run.filtered = std::move(found);
  return true;
}

std::vector<LevelIndices> rowsLeft(const DesignRun& run) {
  std::vector<LevelIndices> left;
  for (std::size_t row = 0; row < run.rows.size(); ++row) {
    if (!run.filtered || !leavesOut(*run.filtered, row)) left.push_back(run.rows[row]);
  }
  return left;
}

std::size_t countLeft(const DesignRun& run) { return run.rows.size() - (run.filtered ? run.filtered->rows.size() : 0); }

Json jsonOf(const DesignRun& run, const Filtering& filtering) {
  Json rows = Json::array();
  for (const Filtering::Row& one : filtering.rows)
    rows.push_back({{"row", one.row}, {"levels", run.levels(one.row)}, {"code", one.code}, {"condition", one.condition}});
  Json imbalance;
  if (filtering.imbalance) {
    Json levels = Json::object();
    for (std::size_t i = 0; i < filtering.imbalance->columns.size(); ++i) {
      const graph::FactorSpec& factor = run.spec.factors[filtering.imbalance->columns[i]];
      levels[factor.name] = factor.levels[filtering.imbalance->combination[i]].text;
    }
    imbalance = {{"levels", levels}, {"count", filtering.imbalance->count}, {"even", filtering.imbalance->expected.toDouble()}};
  }
  return {{"from", filtering.from},
          {"from_rows", filtering.fromRows},
          {"rows", rows},
          {"strength", filtering.strength},
          {"strength_before", filtering.strengthBefore},
          {"pairs_covered", filtering.pairs.covered},
          {"pairs_covered_before", filtering.pairsBefore.covered},
          {"pairs", filtering.pairs.total},
          {"imbalance", imbalance},
          {"rank", filtering.model.rank},
          {"parameters", filtering.model.parameters},
          {"d_efficiency", filtering.model.dEfficiency},
          {"d_efficiency_before", filtering.modelBefore.dEfficiency}};
}

}  // namespace tbem::driver
