#include "compiler/verify/TriedSpecs.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace tbem::driver {

namespace {

/// Makes the tests of `tried.tested`, and tries them.
void makeAndTry(State& state, TriedSpec& tried, const SpecTestRequest& request) {
  TestedSpec& tested = tried.tested;
  const Target& target = state.request.target;
  tested.suite = spec::makeTests(tested.model, tested.scenarios, {request.cases, request.step, request.distance, target.seed});
  const auto tryEach = [&](const std::function<CaseResult(std::size_t)>& trial) {
    for (std::size_t i = 0; i < tested.suite.cases.size(); ++i) tried.results.push_back(trial(i));
  };
  if (!request.answering.empty()) {
    spec::Oracle oracle(tested.model, tested.scenarios);
    tryEach([&](std::size_t i) { return runCase(tested, oracle, i, request.answering, request.caseTime); });
    reportUnanswered(state.sink(), tested, tried.results, request.answering);
  } else if (tried.contract != nullptr && !tried.contract->tensors.empty()) {
    ShapeTrials trials(*state.workspace, target, *tried.contract, tested);
    tryEach([&](std::size_t i) { return trials.run(i); });
  }
}

}  // namespace

std::optional<TriedSpec> trySpec(State& state, spec::CheckedProcess& process, const SpecTestRequest& request) {
  if (process.parenthesesLost || process.scenarios.empty()) return std::nullopt;
  TriedSpec tried{nullptr, {process.model, std::move(process.scenarios), {}}, {}};
  makeAndTry(state, tried, request);
  return tried;
}

std::optional<TriedSpec> trySpec(State& state, const ast::Callable& callable, const SpecTestRequest& request) {
  std::string why;
  Workspace& workspace = *state.workspace;
  std::optional<spec::Contract> read =
      spec::readContract(workspace.session, *workspace.program, workspace.program->main(), callable, request.rank, why);
  if (!read) {
    state.events.note(fmt::format("`{}` has no tests: {}", callable.name.text, why));
    return std::nullopt;
  }
  auto contract = std::make_unique<spec::Contract>(std::move(*read));
  spec::ProcessModel& model = contract->model;
  TriedSpec tried{std::move(contract), {model, spec::deriveScenarios(workspace.session, model), {}}, {}};
  makeAndTry(state, tried, request);
  return tried;
}

std::vector<const ast::Callable*> withConditions(const Workspace& workspace, const std::string& only) {
  std::vector<const ast::Callable*> callables;
  for (const ast::Callable* callable : workspace.all<ast::Callable>()) {
    const bool conditions = !callable->pre.empty() || !callable->post.empty() || !callable->requirements.empty();
    if (only.empty() ? conditions : callable->name.text == only) callables.push_back(callable);
  }
  return callables;
}

void TestVerdict::count(const std::vector<CaseResult>& results) {
  using Verdict = CaseResult::Verdict;
  failed = failed || countOf(results, Verdict::Failed) != 0;
  for (const Verdict verdict : {Verdict::Crashed, Verdict::TimedOut, Verdict::Malformed})
    broken = broken || countOf(results, verdict) != 0;
}

}  // namespace tbem::driver
