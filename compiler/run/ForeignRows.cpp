#include "compiler/run/ForeignRows.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/experiment/Identity.h"
#include "compiler/foreign/Engines.h"
#include "compiler/process/OpenMp.h"
#include "compiler/support/Bug.h"
#include "compiler/support/PrivateFolder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>

namespace tbem::driver {

ForeignRows::ForeignRows(Workspace& workspace, const Request& request) : workspace(workspace), request(request) {
  surroundings.python = request.campaign.python;
  const bool isFile = !workspace.path.empty() && workspace.path != "-";
  if (isFile) surroundings.folder = std::filesystem::path(workspace.path).parent_path().string();
}

bool ForeignRows::describe(CaseRow& row, const graph::Row& plain, const std::string& processor, unsigned threads) {
  row.machine = fmt::format("{}, {} threads", processor, threads);
  std::string what;
  if (row.foreign->framework == nullptr) {
    what = foreign::identityOfCommand(*row.foreign, surroundings, row.plan->run->levels(row.row).dump());
  } else if (!describeProgram(row, what)) {
    return false;
  }
  row.identity = identityOfForeign(plain.graph(), plain.values, protocolOf(row), request.target.seed,
                                   {.backend = row.backend, .threads = threads, .algorithms = what});
  threadsOfRow[row.identity] = threads;
  return true;
}

bool ForeignRows::describeProgram(CaseRow& row, std::string& identity) {
  const foreign::Framework& framework = *row.foreign->framework;
  const std::string* const program = programOf(row);
  if (program == nullptr) return false;
  const std::string python = foreign::pythonOf(*row.foreign, surroundings);
  const FactsOrWhy& known = factsOf(python);
  const std::string missing = known ? foreign::missingPackage(*known, framework) : "";
  if (!known) {
    row.skip = known.error();
  } else if (!missing.empty()) {
    row.skip = fmt::format("{} has no {}; give a Python that has it by --python, or activate its environment", python, missing);
  } else if (row.foreign->device == "cuda") {
    row.skip = whyNoCard(python, framework);
  }
  row.versions = known ? foreign::versionsText(*known, framework) : "";
  identity = foreign::identityOfProgram(*row.foreign, *program, row.versions);
  return true;
}

const ForeignRows::FactsOrWhy& ForeignRows::factsOf(const std::string& python) {
  const auto known = facts.find(python);
  return known != facts.end() ? known->second : facts.emplace(python, foreign::lookAt(python)).first->second;
}

const std::string& ForeignRows::whyNoCard(const std::string& python, const foreign::Framework& framework) {
  const std::pair key(python, &framework);
  if (const auto known = cards.find(key); known != cards.end()) return known->second;
  const auto card = foreign::cardOf(python, framework);
  return cards.emplace(key, card ? std::string() : "no device `cuda` here: " + card.error()).first->second;
}

const std::string* ForeignRows::programOf(const CaseRow& row) {
  const foreign::Framework& framework = *row.foreign->framework;
  const DesignRun& run = *row.plan->run;
  const std::tuple key(&run, row.row, &framework);
  if (const auto known = programs.find(key); known != programs.end()) return &known->second;
  DiagnosticSink& sink = workspace.session.sink;
  std::unique_ptr<graph::Experiment>& experiment = experiments[&run];
  std::optional<graph::Row> withCalls;
  // What there is to say of the row was said when it was elaborated for its estimates.
  reportsOf(sink, [&] {
    if (experiment == nullptr) {
      Target target = request.target;
      target.recordCalls = true;
      experiment = makeExperiment(workspace, run.spec, target);
    }
    withCalls = experiment->row(run.rows[row.row]);
  });
  if (!withCalls) return nullptr;
  const auto emitted = framework.emit(*withCalls, emit::stepClauses(run.spec, emit::GateForm::Masks));
  if (!emitted) {
    const emit::Refusal& refusal = emitted.error();
    const auto isSame = [&](const Diagnostic& told) { return told.kind == diag::not_in_framework && told.range == refusal.at; };
    if (sink.find(isSame) == nullptr)
      sink.report(diag::not_in_framework, refusal.at, refusal.what, framework.title).note(refusal.why);
    return nullptr;
  }
  for (const emit::Refusal& left : emitted->leftOut) {
    const auto isSame = [&](const Diagnostic& told) { return told.kind == diag::left_out_of_framework && told.range == left.at; };
    if (sink.find(isSame) == nullptr)
      sink.report(diag::left_out_of_framework, left.at, left.what, framework.title).note(left.why);
  }
  return &programs.emplace(key, emitted->text).first->second;
}

tl::expected<measure::Command, std::string> ForeignRows::job(const CaseRow& row, const runtime::Case& key,
                                                             const std::string& folder, double timeLimit) {
  const foreign::Terms terms{
      .protocol = protocolOf(row), .seed = request.target.seed, .threads = threadsOfRow.at(row.identity), .timeLimit = timeLimit};
  // How long OpenMP's threads spin is set for our own steps; others run as they would without tbemc.
  const auto asOutside = [](measure::Command job) {
    job.without = waitingNames();
    return job;
  };
  if (row.foreign->framework == nullptr) return asOutside(foreign::commandJob(*row.foreign, surroundings, key, terms));
  const std::string* const program = programOf(row);
  TBEM_CHECK(program != nullptr);
  const std::string path = fmt::format("{}/{}/{}.py", folder, row.identity.substr(0, 2), row.identity);
  if (std::string problem = writePrivate(folder, path, *program); !problem.empty()) return tl::unexpected(std::move(problem));
  return asOutside(foreign::frameworkJob(*row.foreign, surroundings, path, key, terms));
}

}  // namespace tbem::driver
