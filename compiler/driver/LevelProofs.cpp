#include "compiler/driver/LevelProofs.h"

#include "compiler/graph/Where.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace tbem::driver {

namespace {

std::string causeText(const std::vector<spec::Cause>& cause) {
  std::string text;
  for (const spec::Cause& one : cause) text += (text.empty() ? "" : " and ") + one.text;
  return text.empty() ? "always" : text;
}

std::string levelsText(const graph::ExperimentSpec& spec, const LevelIndices& levels, bool changedOnly) {
  std::string text;
  for (std::size_t f = 0; f < levels.size(); ++f) {
    if (changedOnly && levels[f] == 0) continue;
    text += (text.empty() ? "" : ", ") + spec.factors[f].name + " = " + spec.factors[f].levels[levels[f]].text;
  }
  return text;
}

/// What the row at these levels reports, which is taken out of the session again.
std::vector<std::string> notesAt(Session& session, graph::Experiment& experiment, const LevelIndices& levels) {
  DiagnosticSink& sink = session.sink;
  const std::deque<Diagnostic> before = sink.all();
  sink.clear();
  experiment.row(levels);
  std::vector<std::string> notes;
  if (!sink.all().empty()) notes = sink.all().front().notes;
  sink.clear();
  for (const Diagnostic& one : before) sink.append(one);
  return notes;
}

void report(State& state, DesignRun& run, const spec::LevelProof& proof, const spec::Breach& breach) {
  Session& session = state.workspace->session;
  const std::vector<std::string> notes = notesAt(session, *run.experiment, breach.nearest);
  Diagnostic& told = session.sink.report(Diag::levels_break, breach.use, breach.subject, breach.text, breach.combinations,
                                         proof.combinations, run.spec.name, breach.rows, run.rows.size());
  if (breach.range != breach.use) told.label(breach.range, "needed here");
  for (const std::vector<spec::Cause>& cause : breach.causes) told.note("whenever " + causeText(cause));
  if (!breach.causes.empty() && !breach.allCauses) told.note("and at other levels");
  const std::string changed = levelsText(run.spec, breach.nearest, true);
  told.note(changed.empty() ? "already at the first level of each factor" : "fewest changes from the first levels: " + changed);
  for (const std::string& note : notes) told.note(note);
}

}  // namespace

std::vector<DesignProof> proveDesigns(State& state) {
  std::vector<DesignProof> proofs;
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr || run->spec.factors.empty()) continue;
    spec::LevelQuestion question;
    question.experiment = run->experiment.get();
    question.spec = &run->spec;
    question.rows = run->rows;
    const std::vector<graph::RowCondition> conditions = graph::rowConditions(run->spec);
    if (!conditions.empty()) {
      question.allowed = [&](std::span<const std::uint32_t> levels) {
        return std::all_of(conditions.begin(), conditions.end(), [&](const graph::RowCondition& condition) {
          return graph::holds(state.workspace->session, *state.workspace->program, run->spec, condition, levels).value_or(false);
        });
      };
    }
    DesignProof one{run.get(), spec::proveLevels(question)};
    for (const spec::Breach& breach : one.proof.breaches) report(state, *run, one.proof, breach);
    proofs.push_back(std::move(one));
  }
  return proofs;
}

void printDesignProof(const DesignProof& proved, const Options& options) {
  const spec::LevelProof& proof = proved.proof;
  if (options.json) {
    Json breaches = Json::array();
    for (const spec::Breach& one : proof.breaches) {
      Json causes = Json::array();
      for (const auto& cause : one.causes) causes.push_back(causeText(cause));
      Json nearest = Json::object();
      for (std::size_t f = 0; f < one.nearest.size(); ++f)
        nearest[proved.run->spec.factors[f].name] = proved.run->spec.factors[f].levels[one.nearest[f]].text;
      breaches.push_back({{"subject", one.subject},
                          {"condition", one.text},
                          {"combinations", one.combinations},
                          {"rows", one.rows},
                          {"nearest", nearest},
                          {"causes", causes},
                          {"all_causes", one.allCauses}});
    }
    Json fields = {{"design", proved.run->spec.name},   {"verdict", word(proof.verdict)}, {"combinations", proof.combinations},
                   {"rows", proved.run->rows.size()},   {"structures", proof.structures}, {"conditions", proof.conditions},
                   {"by_intervals", proof.byIntervals}, {"points", proof.points},         {"breaches", breaches}};
    if (!proof.reason.empty()) fields["reason"] = proof.reason;
    printJson("levels", std::move(fields));
    return;
  }
  fmt::print(
      "design {}: {} for {} combinations of levels ({} structures, {} conditions, {} by intervals, {} values computed){}{}\n",
      proved.run->spec.name, word(proof.verdict), proof.combinations, proof.structures, proof.conditions, proof.byIntervals,
      proof.points, proof.reason.empty() ? "" : ": ", proof.reason);
}

}  // namespace tbem::driver
