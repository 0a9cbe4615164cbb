// tbemc spec: the processes of a program, their functional scenarios, and what was proved of them, of networks and of designs.
#include "compiler/driver/commands/Spec.h"
#include "compiler/diagnostics/Hints.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/Out.h"
#include "compiler/show/proofs/DesignProofReport.h"
#include "compiler/show/proofs/NetworkProofReport.h"
#include "compiler/show/proofs/ProcessReport.h"
#include "compiler/verify/LevelProofs.h"
#include "compiler/verify/NetworkProofs.h"
#include "compiler/verify/Specs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::driver {

namespace {

void declare(OptionList& list, SpecOptions& o) {
  addProgram(list, o,
             {.files = "the program, - is standard input; then, if wanted, the name of one of its processes or networks (with "
                       "--tests, declarations)",
              .text = kTextInPlace});
  list.flag("--sarif", o.display.sarif, kSarif);
  const Option tests =
      list.flag("--tests", o.tests, "test cases from the functional scenarios, towards each boundary and away from it")
          .excludes("--sarif");
  list.flag("--strict", o.strict, "exit 5 also where something is left to a check at run time (`residual`)").excludes(tests);
  list.add("--effort", o.effort, "work of all proofs together, after which what is left is `residual`: expressions evaluated")
      .wholeNumber()
      .showDefault();
  list.add("--cases", o.cases, "so many cases a scenario, at most").wholeNumber(1, 1'000'000).showDefault().needs(tests);
  list.add("--step", o.step, "by how much the distance to a boundary grows from case to case")
      .wholeNumber(1, 1'000'000)
      .showDefault()
      .needs(tests);
  list.add("--distance", o.distance, "the distance at which cases turn back to the boundary")
      .wholeNumber(1, 1'000'000'000)
      .showDefault()
      .needs(tests);
  list.add("--seed", o.target.seed, "seed of what a case leaves open").wholeNumber().showDefault().needs(tests);
  const Option csv = list.flag("--csv", o.csv, "the cases of one declaration as CSV on standard output").needs(tests);
  const Option answering =
      list.add("--run", o.answering, "run this command on each case (a JSON object in, one out) and judge what it answers")
          .type("COMMAND")
          .needs(tests)
          .excludes(csv);
  list.add("--rank", o.rank, "dimensions that `..s` stands for in a network, block or operator")
      .wholeNumber(1, 8)
      .showDefault()
      .needs(tests);
  list.add("--timeout", o.caseTime, "seconds that the command may take for a case")
      .number(0.001, 86400, "number of seconds from 0.001 to 86400")
      .showDefault()
      .needs(answering);
  addDisplay(list, o);
}

std::string unheeded(const Given& /*given*/, const SpecOptions& /*options*/) { return {}; }

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
void printResidual(show::Out& out, bool strict, const Residual& left, bool endedByWork) {
  if (out.display.sarif) return;
  if (out.display.json) {
    out.json("residual", {{"count", left.count()},
                          {"conditions", left.conditions},
                          {"networks", left.networks},
                          {"designs", left.designs},
                          {"ended_by_work", endedByWork},
                          {"strict", strict}});
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
          strict ? "" : "; --strict makes this exit 5");
}

}  // namespace

bool showProofs(show::Out& out, State& state, const std::string& only, bool strict) {
  const std::vector<spec::CheckedProcess> checked = checkProcesses(state, only);
  for (const spec::CheckedProcess& one : checked) {
    if (out.display.sarif) continue;
    printProcess(out, *state.workspace, one);
  }
  Residual left;
  for (const spec::CheckedProcess& one : checked) countIn(left, one);
  bool against = std::any_of(checked.begin(), checked.end(), [](const auto& one) { return one.refuted(); });
  // A network given by -e stands in a design of its own.
  const bool isExpression = state.request.program.text && state.workspace->file().source->text != *state.request.program.text;
  const std::vector<NetworkProof> networks = isExpression ? proveExpression(state) : proveNetworks(state, only);
  for (const NetworkProof& one : networks) {
    if (!out.display.sarif) printNetworkProof(out, one);
    countIn(left, one);
    against = against || one.proof.verdict == spec::Verdict::Refuted;
  }
  if (only.empty() && !isExpression) {
    const std::vector<DesignProof> proofs = proveDesigns(state, kManyStructures);
    for (const DesignProof& one : proofs) {
      if (!out.display.sarif) printDesignProof(out, one);
      countIn(left, one);
      against = against || (one.proof.verdict == spec::Verdict::Refuted && !one.isFiltered());
    }
    if (state.workspace->all<ast::Process>().empty() && proofs.empty() && networks.empty())
      out.note("the program has no process, no network and no design of one");
  }
  printResidual(out, strict, left, state.proofs.isSpent());
  against = against || (strict && left.count() != 0);
  return against;
}

namespace {

int run(show::Out& out, const SpecOptions& options) {
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
  if (const std::vector<std::string> names = subjectsOf(workspace);
      !only.empty() && std::ranges::find(names, only) == names.end()) {
    out.failure(fmt::format("no process or network is called `{}`{}", only,
                            names.empty() ? "; the program has none" : ": there are " + nearestFew(only, names)));
    return kUsage;
  }
  const bool against = showProofs(out, state, only, options.strict);
  const int status = finish(out, state, kOk);
  return status == kOk && against ? kVerdictAgainst : status;
}

}  // namespace

const Command kSpec = {"spec", "the processes of a program: functional scenarios, and what is proved of them", Takes::Programs,
                       false, invocation<SpecOptions, declare, unheeded, run>};

}  // namespace tbem::driver
