#include "compiler/experiment/designs/DesignRows.h"

#include "compiler/design/choose/NestedArray.h"
#include "compiler/diagnostics/tables/Design.h"
#include "compiler/experiment/designs/DesignFile.h"
#include "compiler/experiment/designs/DesignRepair.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tbem::driver {

namespace {

/// Removes rows that break a `where` of a full factorial.
bool shrinkFull(Workspace& workspace, DesignRun& run, const DesignConstraints& known) {
  design::Array kept;
  const ConditionsAtLevels conditions(workspace, run.spec);
  for (std::size_t r = 0; r < run.array.runs; ++r) {
    const auto row = run.array.row(r);
    bool good = true;
    for (std::size_t i = 0; i < known.conditions.size() && good; ++i) {
      const auto holds = conditions.holds(known.conditions[i], row);
      if (!holds) return false;
      good = *holds;
    }
    if (good) kept.cells.insert(kept.cells.end(), row.begin(), row.end());
    kept.runs += good ? 1 : 0;
  }
  const std::size_t broken = run.array.runs - kept.runs;
  if (broken == 0) return true;
  const SrcRange range = run.spec.where.front()->range;
  if (kept.runs == 0) {
    workspace.session.sink.report(diag::where_excludes_all, range);
    return false;
  }
  workspace.session.sink.report(diag::where_shrinks_full, range, broken, run.array.runs);
  kept.levels = run.array.levels;
  kept.nested = run.array.nested;
  kept.name = fmt::format("{} of the {} rows of the {}", kept.runs, run.array.runs, run.array.name);
  run.array = std::move(kept);
  return true;
}

bool chooseArray(Workspace& workspace, DesignRun& run, Events& events) {
  events.progress(0, 0, fmt::format("an array for {}", run.spec.name));
  design::Options options;
  options.full = run.spec.full;
  options.rows = run.spec.rows;
  options.arrayName = run.spec.array;
  if (run.spec.decl->seed != nullptr) options.seed = run.spec.seed;
  const auto strength = static_cast<std::uint32_t>(run.spec.strength);
  const design::Constraints& rules = run.constraints;
  design::Choice choice = rules.nested.empty() ? design::chooseArray(rules.levels, strength, options)
                                               : design::chooseNestedArray(rules.levels, rules.nested, strength, options);
  if (const auto* refusal = std::get_if<design::Refusal>(&choice)) {
    Diagnostic& diagnostic = workspace.session.sink.report(diag::design_no_array, run.spec.decl->name.range, run.spec.strength);
    diagnostic.note(refusal->reason);
    if (refusal->smallestPossible != 0) {
      diagnostic.note(
          fmt::format("no such array can have fewer than {} rows ({})", refusal->smallestPossible, refusal->boundReason));
    }
    for (const design::Offer& offer : refusal->offers) diagnostic.note("instead: " + offer.text);
    return false;
  }
  run.array = std::move(std::get<design::Array>(choice));
  return true;
}

/// The clause of a design that asks for other rows than `full` and `covering` do, or none.
std::optional<std::pair<const char*, SrcRange>> clauseBeside(const graph::DesignSpec& spec) {
  if (spec.rows) return std::pair{"rows", spec.decl->rows->range};
  if (!spec.array.empty()) return std::pair{"array", spec.decl->array->range};
  if (spec.strengthGiven) return std::pair{"strength", spec.decl->strength->range};
  return std::nullopt;
}

/// Whether `full` stands alone.
bool checkFull(Workspace& workspace, const graph::DesignSpec& spec) {
  const auto beside = clauseBeside(spec);
  if (!beside) return true;
  workspace.session.sink.report(diag::design_clauses_exclude, beside->second, "full", beside->first)
      .note("`full` takes every combination of levels: nothing is left to be chosen");
  return false;
}

bool makeCovering(Workspace& workspace, DesignRun& run, Events& events) {
  const graph::DesignSpec& spec = run.spec;
  const SrcRange range = spec.decl->covering->range;
  const auto beside = clauseBeside(spec);
  if (spec.full || beside) {
    workspace.session.sink.report(diag::design_clauses_exclude, range, spec.full ? "full" : beside->first, "covering")
        .note("a covering array has as many rows as it needs, and its strength is the number behind `covering`");
    return false;
  }
  const auto strength = static_cast<std::uint32_t>(std::min<std::int64_t>(*spec.covering, 1000));
  design::CoveringChoice choice = design::coveringArray(
      run.constraints, strength,
      {.seed = spec.seed, .seconds = spec.within.value_or(kSearchSeconds), .progress = showRows(spec.name, events)});
  if (const auto* reason = std::get_if<std::string>(&choice)) {
    workspace.session.sink.report(diag::design_no_covering, range, strength).note(*reason);
    return false;
  }
  run.covering = std::move(std::get<design::Covering>(choice));
  run.array = run.covering->array;
  return true;
}

}  // namespace

std::function<void(std::size_t, double)> showRows(const std::string& design, Events& events) {
  return [design, &events](std::size_t rows, double share) {
    constexpr double kParts = 100;
    events.progress(static_cast<std::size_t>(share * kParts), static_cast<std::size_t>(kParts),
                    fmt::format("a covering array for {}: {} rows", design, rows));
  };
}

bool makeRows(Workspace& workspace, DesignRun& run, const DesignConstraints& constraints, Events& events) {
  run.constraints = constraints.all;
  bool made = false;
  if (run.spec.full && !run.spec.covering && !checkFull(workspace, run.spec)) return false;
  if (run.spec.covering) {
    made = makeCovering(workspace, run, events);
  } else if (isArrayFile(run.spec) ? takeArrayFile(workspace, run) : chooseArray(workspace, run, events)) {
    made = run.spec.full ? shrinkFull(workspace, run, constraints) : repairRows(workspace, run, events);
  }
  if (!made) return false;
  for (std::size_t i = 0; i < run.array.runs; ++i) {
    const auto row = run.array.row(i);
    run.rows.emplace_back(row.begin(), row.end());
  }
  return true;
}

}  // namespace tbem::driver
