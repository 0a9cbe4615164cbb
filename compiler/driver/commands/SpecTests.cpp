// tbemc spec --tests: tests made from specifications, tried where there is something to try them on.
#include "compiler/verify/SpecTests.h"

#include "compiler/driver/commands/Spec.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/proofs/TestReport.h"
#include "compiler/verify/Specs.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

namespace tbem::driver {

using Verdict = CaseResult::Verdict;

namespace {

int usage(show::Out& out, const std::string& text) {
  out.failure(text);
  return kUsage;
}

/// Makes, tries and prints the tests of the program's specifications.
class Tester {
public:
  Tester(show::Out& out, State& state, const SpecOptions& options) : out(out), state(state), options(options) {}

  void test(spec::CheckedProcess& process) {
    if (process.parenthesesLost || process.scenarios.empty()) return;
    TestedSpec tested{process.model, std::move(process.scenarios), {}};
    makeAndTry(tested, nullptr);
  }

  /// The conditions of a network, block or operator.
  void test(const ast::Callable& callable) {
    std::string why;
    Workspace& workspace = *state.workspace;
    std::optional<spec::Contract> contract =
        spec::readContract(workspace.session, *workspace.program, workspace.program->main(), callable, options.rank, why);
    if (!contract) {
      out.note(fmt::format("`{}` has no tests: {}", callable.name.text, why));
      return;
    }
    TestedSpec tested{contract->model, spec::deriveScenarios(workspace.session, contract->model), {}};
    makeAndTry(tested, &*contract);
  }

  int status() const { return failed ? kVerdictAgainst : broken ? kRunFailed : kOk; }

private:
  void makeAndTry(TestedSpec& tested, const spec::Contract* contract) {
    tested.suite = spec::makeTests(tested.model, tested.scenarios, {options.cases, options.step, options.distance, options.target.seed});
    std::vector<CaseResult> results;
    const auto tryEach = [&](const std::function<CaseResult(std::size_t)>& trial) {
      for (std::size_t i = 0; i < tested.suite.cases.size(); ++i) results.push_back(trial(i));
    };
    if (!options.answering.empty()) {
      spec::Oracle oracle(tested.model, tested.scenarios);
      tryEach([&](std::size_t i) { return runCase(tested, oracle, i, options.answering, options.caseTime); });
      reportUnanswered(state.sink(), tested, results, options.answering);
    } else if (contract != nullptr && !contract->tensors.empty()) {
      ShapeTrials trials(*state.workspace, options.target, *contract, tested);
      tryEach([&](std::size_t i) { return trials.run(i); });
    }
    printTests(out, {options.target.seed, options.csv}, tested, results);
    failed = failed || countOf(results, Verdict::Failed) != 0;
    for (const Verdict verdict : {Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed})
      broken = broken || countOf(results, verdict) != 0;
  }

  show::Out& out;
  State& state;
  const SpecOptions& options;
  bool failed = false, broken = false;
};

/// Networks, blocks and operators whose declaration has conditions.
std::vector<const ast::Callable*> withConditions(const Workspace& workspace, const std::string& only) {
  std::vector<const ast::Callable*> found;
  for (const ast::Callable* one : workspace.all<ast::Callable>()) {
    const bool conditions = !one->pre.empty() || !one->post.empty() || !one->requirements.empty();
    if (only.empty() ? conditions : one->name.text == only) found.push_back(one);
  }
  return found;
}

}  // namespace

int runSpecTests(show::Out& out, const SpecOptions& options) {
  if (options.program.files.size() > 2) return usage(out, "`tbemc spec --tests` takes a program and the name of one of its declarations");
  const std::string only = options.program.files.size() == 2 ? options.program.files[1] : std::string();
  State state(options, out);
  state.proofs = spec::Work(options.effort);
  if (const Progressed done = runPipeline(out, state, options.stages, "names"); !done.proceed) return done.status;
  std::vector<spec::CheckedProcess> processes = checkProcesses(state, only);
  const std::vector<const ast::Callable*> callables = withConditions(*state.workspace, only);
  std::size_t subjects = callables.size();
  for (const ast::Process* one : state.workspace->all<ast::Process>()) subjects += only.empty() || one->name.text == only ? 1 : 0;
  if (subjects == 0 && !only.empty())
    return usage(out, fmt::format("no process, network, block or operator is called `{}`", only));
  if (subjects > 1 && options.csv) return usage(out, "--csv takes one of the declarations: add its name");
  if (subjects == 0) out.note("the program has no process, and no network, block or operator with conditions");
  Tester tester(out, state, options);
  for (spec::CheckedProcess& one : processes) tester.test(one);
  for (const ast::Callable* one : callables) tester.test(*one);
  const int status = finish(out, state, kOk);
  return status != kOk ? status : tester.status();
}

}  // namespace tbem::driver
