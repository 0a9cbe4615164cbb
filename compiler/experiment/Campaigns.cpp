#include "compiler/experiment/Campaigns.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/support/Bug.h"
#include "compiler/support/Rational.h"
#include "runtime/measure/CardMeter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

namespace tbem::driver {

bool countsPackages() {
  static const bool kCounts = measure::EnergyMeter().available();
  return kCounts;
}

measure::Settings protocolOf(const CaseRow& row) {
  constexpr double kMore = 1.05;  // than the counters need, for clocks are read between steps
  measure::Settings protocol;
  if (!row.plan->countsEnergy) return protocol;
  const bool isOnCard = (row.foreign != nullptr ? row.foreign->device : row.backend) == "cuda";
  if (isOnCard || countsPackages()) {
    protocol.minSeconds = kMore * (isOnCard ? measure::CardMeter::kWindow : measure::EnergyMeter::kWindow);
    protocol.maxSteps = std::numeric_limits<std::uint32_t>::max();
  }
  return protocol;
}

StoreFile::StoreFile(const Workspace& workspace, const std::string& store) {
  file = !store.empty() ? store : workspace.beside(".tbemdb");
  if (!file.empty()) return;
  auto folder = TemporaryFolder::make();
  if (!folder) {
    missing = std::move(folder.error());
    return;
  }
  temporary = std::move(*folder);
  file = temporary->path() + "/store.tbemdb";
}

bool StoreFile::exists() const {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

namespace {

const std::vector<std::string> kMetrics = {"memory", "latency", "energy"};

void unknownName(DiagnosticSink& sink, Diag kind, const ast::Name& name, const std::vector<std::string>& known) {
  Diagnostic& diagnostic = sink.report(kind, name.range, name.text);
  const std::string close = nearest(name.text, known);
  if (!close.empty()) {
    diagnostic.fix(name.range, close, Applicability::Maybe);
    return;
  }
  if (known.empty()) {
    diagnostic.note("the program declares none");
    return;
  }
  diagnostic.note("known: " + nearestFew(name.text, known));
}

bool readMetrics(DiagnosticSink& sink, const ast::Measure& decl, MeasurePlan& plan) {
  if (decl.metrics.empty()) return true;
  plan.wantsMemory = plan.wantsLatency = plan.wantsEnergy = false;
  for (const ast::Name& name : decl.metrics) {
    if (name.text == "memory")
      plan.wantsMemory = true;
    else if (name.text == "latency")
      plan.wantsLatency = true;
    else if (name.text == "energy")
      plan.wantsEnergy = true;
    else {
      unknownName(sink, diag::unknown_metric, name, kMetrics);
      return false;
    }
  }
  return true;
}

bool readBackends(Workspace& workspace, const ast::Measure* decl, MeasurePlan& plan, const Request& request) {
  if (!request.campaign.on.empty()) {
    auto asked = foreign::askedBy(request.campaign.on);
    TBEM_CHECK(asked.has_value());  // the command has read it
    plan.backends = std::move(*asked);
    return true;
  }
  if (!request.target.backend.empty()) {
    plan.backends = {{request.target.backend, std::nullopt}};
    return true;
  }
  if (decl != nullptr) {
    auto asked = foreign::askedBy(*decl, workspace.session.sink, workspace.session.sources);
    if (!asked) return false;
    plan.backends = std::move(*asked);
  }
  if (plan.backends.empty()) plan.backends = {{"cpu", std::nullopt}};
  return true;
}

bool readRepeat(DiagnosticSink& sink, const ast::Measure& decl, MeasurePlan& plan, const Request& request) {
  if (decl.repeat != nullptr) {
    const auto* number = ast::dynCast<ast::Number>(decl.repeat);
    const std::optional<Rational> value = number == nullptr ? std::nullopt : Rational::parse(number->text);
    if (!value || !value->isInt() || value->num < 1 || value->num > 1000) {
      sink.report(diag::bad_repeat, decl.repeat->range);
      return false;
    }
    plan.repeats = static_cast<unsigned>(value->num);
  }
  if (request.campaign.repeat) plan.repeats = *request.campaign.repeat;
  return true;
}

bool isRead(const ast::Clause& clause) {
  const std::string& word = clause.word.text;
  return word == "tune" || word == "on" || word == "examples" || word == "attack";
}

/// Other clauses belong to later stages.
bool refuseOthers(DiagnosticSink& sink, const ast::Measure& decl) {
  for (const ast::Clause& clause : decl.others) {
    if (isRead(clause)) continue;
    sink.report(diag::not_there_yet, clause.range, fmt::format("the clause `{}` of `measure` is", clause.word.text));
  }
  return std::all_of(decl.others.begin(), decl.others.end(), isRead);
}

bool readTune(Workspace& workspace, const ast::Measure& decl, MeasurePlan& plan, const Request& request) {
  const ast::Clause* clause = tuneClause(decl.others);
  const auto tuning = clause == nullptr ? Tuning{} : readTuning(*clause, workspace.session.sink, workspace.session.sources);
  if (!tuning) return false;
  plan.tuning = parseTuning(request.target.tune).value_or(*tuning);
  return true;
}

/// The clause of this word; nullptr: there is none.
const ast::Clause* clauseOf(const ast::Measure& decl, std::string_view word) {
  const auto clause = std::ranges::find_if(decl.others, [&](const ast::Clause& one) { return one.word.text == word; });
  return clause == decl.others.end() ? nullptr : &*clause;
}

/// Clauses `examples` and `attack`. They measure what they measure, on backends of our own.
bool readOver(Workspace& workspace, const std::vector<std::unique_ptr<TrainingRun>>& trainings, const ast::Measure& decl,
              MeasurePlan& plan) {
  DiagnosticSink& sink = workspace.session.sink;
  const ast::Clause* const clause = clauseOf(decl, "examples");
  const ast::Clause* const attack = clauseOf(decl, "attack");
  if (clause == nullptr && attack != nullptr) {
    sink.report(diag::design_clause_value, attack->range, "attack", "a clause `examples` beside it, whose examples are moved",
                "none");
    return false;
  }
  if (clause == nullptr || plan.run == nullptr) return true;
  const auto isElsewhere = [](const foreign::Asked& asked) { return asked.foreign.has_value(); };
  if (const auto there = std::ranges::find_if(plan.backends, isElsewhere); there != plan.backends.end()) {
    sink.report(diag::design_clause_value, clause->range, "examples", "a backend of tbemc's own", "`" + there->name + "`");
    return false;
  }
  if (!decl.metrics.empty()) {
    const ast::Name& metric = decl.metrics.front();
    sink.report(diag::design_clause_value, metric.range, "metric",
                "nothing beside `examples`, which says itself what is measured", "`" + metric.text + "`");
    return false;
  }
  plan.examples = readMeasuredExamples(workspace, trainings, *clause, attack, *plan.run);
  plan.wantsMemory = plan.wantsLatency = false;
  return plan.examples.has_value();
}

}  // namespace

bool asksForEnergy(const MeasurePlan& plan) {
  return plan.wantsEnergy || (plan.examples && plan.examples->plan.energySeconds > 0);
}

std::vector<MeasurePlan> readMeasures(Workspace& workspace, Designs& designs,
                                      const std::vector<std::unique_ptr<TrainingRun>>& trainings, const Request& request) {
  DiagnosticSink& sink = workspace.session.sink;
  std::vector<std::string> names;
  for (const ast::Design* design : workspace.all<ast::Design>()) names.push_back(design->name.text);
  std::vector<MeasurePlan> plans;
  const std::vector<const ast::Measure*> declared = workspace.all<ast::Measure>();
  // `tbemc measure` of a program that does not say what to measure (a network given by -e, say) measures its designs once.
  if (declared.empty() && !request.campaign.declaredOnly) {
    for (const auto& run : designs.runs) {
      if (run->experiment == nullptr) continue;
      MeasurePlan plan;
      plan.run = run.get();
      readBackends(workspace, nullptr, plan, request);
      plan.repeats = request.campaign.repeat.value_or(1);
      plan.tuning = run->tuning;
      plans.push_back(std::move(plan));
    }
    return plans;
  }
  for (const ast::Measure* decl : declared) {
    if (std::find(names.begin(), names.end(), decl->name.text) == names.end()) {
      unknownName(sink, diag::unknown_design, decl->name, names);
      continue;
    }
    MeasurePlan plan;
    plan.decl = decl;
    for (const auto& run : designs.runs) {
      if (run->spec.name == decl->name.text && run->experiment != nullptr) plan.run = run.get();
    }
    const bool sound = readMetrics(sink, *decl, plan) && readBackends(workspace, decl, plan, request) &&
                       readRepeat(sink, *decl, plan, request) && readTune(workspace, *decl, plan, request) &&
                       refuseOthers(sink, *decl) && readOver(workspace, trainings, *decl, plan);
    if (sound && plan.run != nullptr) plans.push_back(std::move(plan));
  }
  for (MeasurePlan& plan : plans) {
    plan.countsEnergy =
        std::ranges::any_of(plans, [&](const MeasurePlan& other) { return other.run == plan.run && other.wantsEnergy; });
  }
  return plans;
}

}  // namespace tbem::driver
