#include "compiler/show/proofs/ProcessReport.h"

#include "compiler/verify/SpecTests.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

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

}  // namespace

void printProcess(show::Out& out, const Workspace& workspace, const spec::CheckedProcess& process) {
  out.display.json ? printProcessJson(out, workspace, process) : printProcessText(out, workspace, process);
}

}  // namespace tbem::driver
