// tbemc spec: the processes of a program, their functional scenarios, and what was proved of them, of networks and of designs.
#include "compiler/diagnostics/Hints.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/Out.h"
#include "compiler/show/proofs/DesignProofReport.h"
#include "compiler/show/proofs/NetworkProofReport.h"
#include "compiler/verify/CleanParts.h"
#include "compiler/verify/LevelProofs.h"
#include "compiler/verify/NetworkProofs.h"
#include "compiler/verify/SpecTests.h"
#include "compiler/verify/Specs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::driver {

namespace {

std::string preText(const Workspace& workspace, const spec::CheckedProcess& process) {
  const ast::Expr* pre = process.model.process->pre;
  return pre != nullptr ? sourceText(workspace.session.sources, pre->range) : "true";
}

Json valuesOf(const spec::ProcessModel& model, const spec::Proof& proof) {
  spec::Point point(model.unknowns.size());
  for (const auto& [symbol, value] : proof.values) point[static_cast<std::size_t>(symbol)] = value;
  const auto has = [&](sema::SymbolId symbol) { return point[static_cast<std::size_t>(symbol)].has_value(); };
  Json values = Json::object();
  for (std::size_t s = 0; s < point.size(); ++s) {
    if (point[s] && model.isPresence(s)) values[model.unknowns[s].name] = point[s]->num != 0;
  }
  for (const spec::Variable& one : model.variables) {
    if (std::ranges::any_of(one.unknowns(), has)) values[one.name] = jsonOf(model, one, point);
  }
  return values;
}

void printProcessJson(show::Out& out, const Workspace& workspace, const spec::CheckedProcess& process) {
  const SourceManager& sources = workspace.session.sources;
  const auto line = [&](SrcRange range) { return sources.lineColumn(range.begin).line; };
  Json scenarios = Json::array();
  for (const spec::Scenario& one : process.scenarios)
    scenarios.push_back({{"guard", one.guardText}, {"definition", one.definitionText}, {"line", line(one.range)}});
  Json findings = Json::array();
  for (const spec::Finding& one : process.findings) {
    Json finding = {{"claim", one.text}, {"verdict", word(one.verdict)}, {"method", word(one.proof.method)}};
    finding["values"] = valuesOf(process.model, one.proof);
    if (!one.proof.reason.empty()) finding["reason"] = one.proof.reason;
    findings.push_back(std::move(finding));
  }
  const SrcRange name = process.model.decl->name.range;
  out.json("spec", {{"process", process.model.decl->name.text},
                    {"file", sources.find(name.begin)->name},
                    {"line", line(name)},
                    {"pre", preText(workspace, process)},
                    {"scenarios", scenarios},
                    {"findings", findings}});
}

void printProcessText(show::Out& out, const Workspace& workspace, const spec::CheckedProcess& process) {
  const SourceManager& sources = workspace.session.sources;
  out.say("process {}\n  pre  {}\n", process.model.decl->name.text, preText(workspace, process));
  for (std::size_t i = 0; i < process.scenarios.size(); ++i) {
    const spec::Scenario& one = process.scenarios[i];
    out.say("  {}.   {} && {}  (line {})\n", i + 1, one.guardText, one.definitionText, sources.lineColumn(one.range.begin).line);
  }
  if (process.unreachable != 0)
    out.say("  {} further combination{} of conditions that nothing meets\n", process.unreachable,
            process.unreachable == 1 ? "" : "s");
  if (process.parenthesesLost) out.say("  nothing was proved: parentheses are missing in `post`\n");
  for (const spec::Finding& one : process.findings) {
    std::string more;
    if (one.verdict == spec::Verdict::Refuted && !one.proof.values.empty())
      more = ": " + process.model.describe(one.proof.values);
    else if (one.verdict == spec::Verdict::Residual)
      more = ": " + one.proof.reason;
    out.say("  {:<9}{}{}\n", word(one.verdict), one.text, more);
  }
}

/// The names of the program's processes and networks.
std::vector<std::string> subjectsOf(const Workspace& workspace) {
  std::vector<std::string> names;
  for (const ast::Decl* one : workspace.file().declarations) {
    const auto* callable = ast::dynCast<ast::Callable>(one);
    if (ast::dynCast<ast::Process>(one) != nullptr || (callable != nullptr && callable->callable == ast::CallableKind::Network))
      names.push_back(one->name.text);
  }
  return names;
}

/// What was asked and neither proved nor refuted: conditions, and networks and designs that were not looked at, or not wholly.
struct Residual {
  std::size_t conditions = 0, networks = 0, designs = 0;
  std::size_t count() const { return conditions + networks + designs; }
};

void countIn(Residual& left, const spec::CheckedProcess& one) {
  left.conditions += static_cast<std::size_t>(std::count_if(
      one.findings.begin(), one.findings.end(), [](const auto& finding) { return finding.verdict == spec::Verdict::Residual; }));
  if (one.parenthesesLost) ++left.conditions;
}

void countIn(Residual& left, const NetworkProof& one) {
  left.conditions += one.proof.doubts.size();
  if (one.proof.verdict == spec::Verdict::Residual && one.proof.doubts.empty()) ++left.networks;
}

void countIn(Residual& left, const DesignProof& one) {
  left.conditions += one.proof.doubts.size();
  if (!one.proof.reason.empty() && one.proof.doubts.empty()) ++left.designs;
}

/// One line with the count, or with --json a `residual` object, which is there where nothing is left too.
void printResidual(show::Out& out, const Options& options, const Residual& left, bool endedByWork) {
  if (options.display.sarif) return;
  if (options.display.json) {
    out.json("residual", {{"count", left.count()},
                          {"conditions", left.conditions},
                          {"networks", left.networks},
                          {"designs", left.designs},
                          {"ended_by_work", endedByWork},
                          {"strict", options.strict}});
    return;
  }
  if (left.count() == 0) return;
  std::string parts;
  const auto add = [&](std::size_t count, const char* word) {
    if (count != 0) parts += fmt::format("{}{} {}{}", parts.empty() ? "" : ", ", count, word, count == 1 ? "" : "s");
  };
  add(left.conditions, "condition");
  add(left.networks, "network");
  add(left.designs, "design");
  out.say("residual: {} ({}): neither proved nor refuted{}{}\n", left.count(), parts,
          endedByWork ? "; the limit of work for proofs ended them (--effort gives more)" : "",
          options.strict ? "" : "; --strict makes this exit 5");
}

}  // namespace

std::vector<spec::CheckedProcess> checkProcesses(State& state, std::string_view only) {
  Workspace& workspace = *state.workspace;
  spec::Work& work = state.proofs;
  CleanParts* const clean = state.clean;
  std::vector<spec::CheckedProcess> checked;
  for (const ast::Process* process : workspace.all<ast::Process>()) {
    if (!only.empty() && process->name.text != only) continue;
    const std::string text = "proving process " + process->name.text;
    work.told = [&] { state.events.progress(checked.size(), 0, text); };
    work.tell();
    std::optional<spec::CheckedProcess> one;
    const auto check = [&] {
      one = spec::checkProcess(workspace.session, *workspace.program, workspace.program->main(), *process, &work);
      return true;
    };
    if (clean != nullptr)
      clean->look({CleanPart::Process, process}, workspace.session.sink, check, {}, &work);
    else
      check();
    if (one) checked.push_back(std::move(*one));
  }
  work.told = nullptr;
  return checked;
}

int runSpec(show::Out& out, const Options& options) {
  if (options.tests) return runSpecTests(out, options);
  if (options.program.files.size() > 2) {
    out.failure("`tbemc spec` takes a program and the name of a process or network");
    return kUsage;
  }
  const std::string only = options.program.files.size() == 2 ? options.program.files[1] : std::string();
  State state(options, out);
  state.proofs = spec::Work(options.effort);
  if (const Progressed done = runPipeline(out, state, options.stages, "design"); !done.proceed) return done.status;
  const Workspace& workspace = *state.workspace;
  const std::vector<const ast::Process*> all = workspace.all<ast::Process>();
  if (const std::vector<std::string> names = subjectsOf(workspace);
      !only.empty() && std::ranges::find(names, only) == names.end()) {
    out.failure(fmt::format("no process or network is called `{}`{}", only,
                            names.empty() ? "; the program has none" : ": there are " + nearestFew(only, names)));
    return kUsage;
  }
  const std::vector<spec::CheckedProcess> checked = checkProcesses(state, only);
  for (const spec::CheckedProcess& one : checked) {
    if (options.display.sarif) continue;
    options.display.json ? printProcessJson(out, *state.workspace, one) : printProcessText(out, *state.workspace, one);
  }
  Residual left;
  for (const spec::CheckedProcess& one : checked) countIn(left, one);
  bool against = std::any_of(checked.begin(), checked.end(), [](const auto& one) { return one.refuted(); });
  // A network given by -e stands in a design of its own.
  const bool isExpression = options.program.text && workspace.file().source->text != *options.program.text;
  const std::vector<NetworkProof> networks = isExpression ? proveExpression(state) : proveNetworks(state, only);
  for (const NetworkProof& one : networks) {
    if (!options.display.sarif) printNetworkProof(out, one);
    countIn(left, one);
    against = against || one.proof.verdict == spec::Verdict::Refuted;
  }
  if (only.empty() && !isExpression) {
    const std::vector<DesignProof> proofs = proveDesigns(state, kManyStructures);
    for (const DesignProof& one : proofs) {
      if (!options.display.sarif) printDesignProof(out, one);
      countIn(left, one);
      against = against || (one.proof.verdict == spec::Verdict::Refuted && !one.isFiltered());
    }
    if (all.empty() && proofs.empty() && networks.empty())
      out.note("the program has no process, no network and no design of one");
  }
  printResidual(out, options, left, state.proofs.isSpent());
  against = against || (options.strict && left.count() != 0);
  const int status = finish(out, state, kOk);
  return status == kOk && against ? kVerdictAgainst : status;
}

}  // namespace tbem::driver
