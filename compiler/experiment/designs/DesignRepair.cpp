#include "compiler/experiment/designs/DesignRepair.h"

#include "compiler/design/model/Terms.h"
#include "compiler/diagnostics/tables/Design.h"
#include "compiler/experiment/RegressionModel.h"
#include "compiler/experiment/designs/DesignRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

/// The main effects of all factors, each with its own levels' effects.
design::Basis mainEffectsOf(std::vector<design::Factor> factors) {
  std::vector<design::Term> terms;
  for (std::uint32_t f = 0; f < factors.size(); ++f) {
    factors[f].values.clear();
    if (factors[f].labels.size() > 1) terms.push_back({{{f, 1}}});
  }
  return {std::move(factors), design::hierarchical(std::move(terms)).terms};
}

std::size_t brokenRows(const DesignRun& run) {
  std::size_t broken = 0;
  for (std::size_t r = 0; r < run.array.runs; ++r) broken += run.constraints.allows(run.array.row(r)) ? 0 : 1;
  return broken;
}

}  // namespace

design::Basis modelOf(const Workspace& workspace, const DesignRun& run) {
  const std::vector<design::Factor> factors = run.factors();
  std::vector<design::Term> all;
  for (const ast::Regress* decl : workspace.all<ast::Regress>()) {
    if (decl->from.text != run.spec.name || decl->terms == nullptr) continue;
    DiagnosticSink unheard;
    const auto terms = termsOf(*decl->terms, factors, unheard);
    if (terms && !design::problem(factors, terms->terms)) all.insert(all.end(), terms->terms.begin(), terms->terms.end());
  }
  return all.empty() ? mainEffectsOf(factors) : design::Basis(factors, design::hierarchical(std::move(all), factors).terms);
}

std::string repairText(const design::Repaired& repaired) {
  switch (repaired.rung) {
    case design::Rung::Relabelled:
      return "with other labels of its columns and levels all rows stand";
    case design::Rung::Exchanged:
      return fmt::format("with other labels of its columns and levels {} of them stand; exchanged: {}", repaired.kept,
                         repaired.fromRows - repaired.kept);
    case design::Rung::Dummy:
    case design::Rung::Larger:
      return fmt::format("too few for the model; of the {} rows of {} with other labels {} stand; exchanged: {}",
                         repaired.fromRows, repaired.from, repaired.kept, repaired.fromRows - repaired.kept);
    case design::Rung::Augmented:
      return fmt::format("no such array serves the model; {} rows: {}", repaired.array.runs, repaired.array.name);
  }
  return "";
}

std::string repairQuality(const design::Repaired& repaired) {
  std::string text = fmt::format("rank {} of {}, D-efficiency {:.3f}", repaired.quality.rank, repaired.quality.parameters,
                                 repaired.quality.dEfficiency);
  if (repaired.relative > 0) text += fmt::format(" ({:.0f} % of the unconstrained array's)", 100 * repaired.relative);
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const auto& counts : design::levelCounts(repaired.array)) {
    for (const std::uint64_t count : counts) {
      least = std::min(least, count);
      most = std::max(most, count);
    }
  }
  text += fmt::format(", A-efficiency {:.3f}, {} of the {} pairs of levels that can stand", repaired.quality.aEfficiency,
                      repaired.pairs.covered, repaired.pairs.total);
  if (repaired.triples) text += fmt::format(", {} of the {} triples", repaired.triples->covered, repaired.triples->total);
  text += fmt::format(", levels {} to {} times, largest correlation {:.2f}, largest variance inflation {:.2f}", least, most,
                      repaired.correlation, repaired.quality.inflation);
  if (repaired.coincidences)
    text += fmt::format(", J2 = {} (orthogonal: {})", repaired.coincidences->squares, repaired.coincidences->least);
  return text;
}

bool repairRows(Workspace& workspace, DesignRun& run, Events& events) {
  const std::size_t broken = brokenRows(run);
  if (broken == 0) return true;
  const graph::DesignSpec& spec = run.spec;
  const SrcRange range = spec.where.front()->range;
  design::RepairOptions options;
  options.strength = static_cast<std::uint32_t>(spec.strength);
  options.fixedRows = spec.rows.has_value() || !spec.array.empty();
  options.seed = spec.seed;
  options.seconds = spec.within.value_or(kSearchSeconds);
  options.progress = showRows(spec.name, events);
  design::Repair choice = design::repair(run.array, run.constraints, modelOf(workspace, run), options);
  if (const auto* reason = std::get_if<std::string>(&choice)) {
    workspace.session.sink.report(diag::where_breaks_array, range, broken, run.array.runs, run.array.name)
        .note(*reason)
        .note(
            "instead: `full` takes every combination that meets it, `covering 2` few rows with all pairs of levels that can "
            "stand")
        .note("or name the model with `regress`: without one, the main effects of all levels are to be told apart");
    return false;
  }
  auto& repaired = std::get<design::Repaired>(choice);
  const Diag kind = repaired.rung == design::Rung::Relabelled ? diag::where_relabels : diag::where_exchanges;
  workspace.session.sink.report(kind, range, broken, run.array.runs, run.array.name, repairText(repaired))
      .note("the model there: " + repairQuality(repaired));
  run.array = repaired.array;
  run.repaired = std::move(repaired);
  return true;
}

}  // namespace tbem::driver
