#include "compiler/verify/LevelProofs.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/experiment/designs/DesignConstraints.h"
#include "compiler/experiment/designs/DesignFilter.h"
#include "compiler/graph/elaborate/Violation.h"
#include "compiler/graph/read/Where.h"
#include "compiler/verify/KeptAnswers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::driver {

namespace {

std::string levelsText(const graph::ExperimentSpec& spec, const LevelIndices& levels, bool changedOnly) {
  std::string text;
  for (std::size_t f = 0; f < levels.size(); ++f) {
    if ((changedOnly && levels[f] == 0) || spec.factors[f].levels[levels[f]].absent) continue;
    text += (text.empty() ? "" : ", ") + spec.factors[f].name + " = " + spec.factors[f].levels[levels[f]].text;
  }
  return text;
}

/// The notes of a report that is of this breach and of no other.
std::vector<std::string> ownNotes(const std::deque<Diagnostic>& told, const spec::Breach& breach) {
  for (const Diagnostic& one : told) {
    const SrcRange needed = one.labels.empty() ? one.range : one.labels.front().range;
    if (one.range == breach.use && needed.begin == breach.range.begin) return one.notes;
  }
  return {};
}

/// The value of a dimension that is not a whole number above 0.
std::vector<std::string> dimensionNotes(const graph::Structure& structure, const sema::Values& values,
                                        const spec::Breach& breach) {
  for (const graph::Tensor& tensor : structure.graph.tensors) {
    if (tensor.range != breach.range) continue;
    for (const sema::ExprId dim : tensor.shape) {
      if (values.errorOf(dim) != sema::EvalError::None || (values[dim].isInt() && values[dim].num >= 1)) continue;
      return {fmt::format("here {} = {}", structure.pool.str(dim), values[dim].str())};
    }
  }
  return {};
}

/// Values and shapes of the breach itself at its nearest levels, where other conditions may break too.
std::vector<std::string> notesOf(Session& session, const graph::ExperimentSpec& spec, graph::Experiment& experiment,
                                 const spec::Breach& breach) {
  const graph::Structure* const structure = breach.mistake.empty() ? experiment.structureAt(breach.nearest) : nullptr;
  if (structure == nullptr) return ownNotes(reportsOf(session.sink, [&] { experiment.row(breach.nearest); }), breach);
  std::vector<std::optional<Rational>> assignment;
  for (const std::uint32_t factor : structure->symbolFactor)
    assignment.push_back(spec.factors[factor].levels[breach.nearest[factor]].number);
  const sema::Values values = structure->pool.evaluate(assignment);
  if (breach.isDimension) return dimensionNotes(*structure, values, breach);
  for (const graph::Obligation& one : structure->graph.obligations) {
    if (one.use.begin != breach.use.begin || one.range.begin != breach.range.begin) continue;
    if (values.errorOf(one.condition) == sema::EvalError::None && values[one.condition].num != 0) continue;
    return ownNotes(reportsOf(session.sink, [&] { graph::reportViolation(session, *structure, one, values, {}); }), breach);
  }
  return {};
}

std::string remedyText(const LevelRemedy& remedy, std::uint64_t all) {
  if (remedy.combinations == all) return "holds with " + remedy.text;
  return fmt::format("holds with {}: {} of {} combinations stay", remedy.text, remedy.combinations, all);
}

void report(State& state, DesignRun& run, const spec::LevelProof& proof, const spec::Breach& breach,
            const std::vector<LevelRemedy>& remedies) {
  Session& session = state.workspace->session;
  const std::vector<std::string> notes = notesOf(session, run.spec, *run.experiment, breach);
  const std::string count = (breach.isLeast ? "at least " : "") + std::to_string(breach.combinations);
  Diagnostic& told = session.sink.report(diag::levels_break, breach.use, breach.subject, breach.text, count, proof.combinations,
                                         run.spec.name, breach.rows, countLeft(run));
  const std::string extent = run.spec.factors.empty() ? fmt::format(" breaks at the sizes of `{}`", run.spec.name)
                                                      : told.message.substr(told.message.rfind(" breaks at "));
  told.message =
      (breach.mistake.empty() ? fmt::format("`{}`: `{}`", breach.subject, breach.text) : breach.mistake + ":") + extent;
  if (breach.range != breach.use) told.label(breach.range, "needed here");
  for (const std::vector<spec::Cause>& cause : breach.causes) {
    if (!cause.empty()) told.note("whenever " + causeText(cause));
  }
  if (!breach.causes.empty() && !breach.allCauses) told.note("and at other levels");
  const std::string changed = levelsText(run.spec, breach.nearest, true);
  if (!run.spec.factors.empty())
    told.note(changed.empty() ? "already at the first level of each factor" : "fewest changes from the first levels: " + changed);
  for (const std::string& note : notes) told.note(note);
  for (const LevelRemedy& remedy : remedies) told.note(remedyText(remedy, proof.combinations));
  if (remedies.empty()) return;
  for (const Fix& fix : remedies.front().change) told.fix(fix.range, fix.replacement);
}

constexpr std::uint64_t kMaxCounted = 100'000;  // combinations up to which those that a `where` leaves are counted

std::uint64_t countAllowed(const graph::DesignSpec& spec, const std::function<bool(std::span<const std::uint32_t>)>& allowed) {
  LevelIndices levels(spec.factors.size(), 0);
  std::uint64_t count = 0;
  do {
    if (!spec.misplaced(levels) && allowed(levels)) ++count;
  } while (nextCombination(spec, levels));
  return count;
}

}  // namespace

std::string causeText(const std::vector<spec::Cause>& cause) {
  std::string text;
  for (const spec::Cause& one : cause) text += (text.empty() ? "" : " and ") + one.text;
  return text.empty() ? "always" : text;
}

const char* DesignProof::verdict() const { return isFiltered() ? "filtered" : word(proof.verdict); }

bool nextCombination(const graph::ExperimentSpec& spec, LevelIndices& levels) {
  for (std::size_t f = levels.size(); f-- > 0;) {
    if (++levels[f] < spec.factors[f].levels.size()) return true;
    levels[f] = 0;
  }
  return false;
}

spec::LevelProof proofOf(LevelSubject subject, const Target& target, spec::Work& work, std::size_t maxStructures) {
  const auto& [workspace, spec, experiment, rows] = subject;
  spec::LevelQuestion question;
  question.maxStructures = maxStructures;
  question.work = &work;
  question.fresh = [&] { return makeExperiment(workspace, spec, target); };
  question.reportsAt = [&](std::span<const std::uint32_t> levels) {
    return reportsOf(workspace.session.sink, [&] { experiment.row(levels); });
  };
  question.experiment = &experiment;
  question.spec = &spec;
  question.rows = std::move(subject.rows);
  const std::vector<graph::RowCondition> conditions = graph::rowConditions(spec);
  const ConditionsAtLevels atLevels(workspace, spec);
  if (!conditions.empty()) {
    question.allowed = [&](std::span<const std::uint32_t> levels) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const graph::RowCondition& condition) { return atLevels.holds(condition, levels).value_or(false); });
    };
  }
  spec::LevelProof proof = spec::proveLevels(question);
  if (question.allowed && proof.combinations <= kMaxCounted) proof.combinations = countAllowed(spec, question.allowed);
  return proof;
}

namespace {

DesignProof proveDesign(State& state, DesignRun& run, std::size_t maxStructures) {
  DesignProof one{&run, {}, {}};
  one.proof =
      proofOf({*state.workspace, run.spec, *run.experiment, rowsLeft(run)}, state.request.target, state.proofs, maxStructures);
  state.proofs.told = nullptr;
  for (const spec::Breach& breach : one.proof.breaches) {
    state.events.progress(one.remedies.size(), one.proof.breaches.size(),
                          fmt::format("what mends {}: {}", run.spec.name, breach.text));
    one.remedies.push_back(remediesFor(*state.workspace, run, one.proof, breach, state.request.target, state.proofs));
    report(state, run, one.proof, breach, one.remedies.back());
  }
  return one;
}

/// Elaborates the rows that `elaborate` left out, as what they have to say is known, or those of a new experiment. What there is
/// to say of them was said.
void buildRows(State& state, DesignRun& run) {
  reportsOf(state.sink(), [&] {
    for (const std::size_t row : run.chosen) elaborateRow(run, row);
  });
}

}  // namespace

std::vector<DesignProof> proveDesigns(State& state, std::size_t maxStructures) {
  std::vector<DesignProof> proofs;
  std::vector<std::unique_ptr<graph::Experiment>> former;  // rows of the state point into them
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) continue;
    const std::string text = fmt::format("proving the conditions of {} for all its levels", run->spec.name);
    state.proofs.told = [&] { state.events.progress(proofs.size(), 0, text); };
    state.proofs.tell();
    const auto prove = [&] {
      if (state.keptAnswers != nullptr && state.rowOf(run.get()) == nullptr) buildRows(state, *run);
      proofs.push_back(proveDesign(state, *run, maxStructures));
      return true;
    };
    const auto undo = [&] {
      proofs.pop_back();
      former.push_back(std::move(run->experiment));
      run->experiment = makeExperiment(*state.workspace, run->spec, state.request.target);
      buildRows(state, *run);
    };
    // An experiment that went through a filter before cannot be made again.
    if (state.keptAnswers != nullptr && !run->spec.decl->filter)
      state.keptAnswers->look({CheckedPart::Proof, run->spec.decl, rowsText(*run)}, state.sink(), prove, undo, &state.proofs);
    else
      prove();
    state.proofs.told = nullptr;
  }
  return proofs;
}

}  // namespace tbem::driver
