// tbemc spec --tests: tests made from specifications, tried where there is something to try them on.
#include "compiler/driver/RunPipeline.h"
#include "compiler/driver/commands/Spec.h"
#include "compiler/show/proofs/TestReport.h"
#include "compiler/verify/Specs.h"
#include "compiler/verify/TriedSpecs.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

namespace {

int usage(show::Out& out, const std::string& text) {
  out.failure(text);
  return kUsage;
}

}  // namespace

int runSpecTests(show::Out& out, const SpecOptions& options) {
  if (options.program.files.size() > 2)
    return usage(out, "`tbemc spec --tests` takes a program and the name of one of its declarations");
  const std::string only = options.program.files.size() == 2 ? options.program.files[1] : std::string();
  PipelineState state(options, out);
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
  const SpecTestRequest request{options.cases, options.step, options.distance, options.answering, options.rank, options.caseTime};
  TestVerdict verdict;
  const auto show = [&](const std::optional<TriedSpec>& tried) {
    if (!tried) return;
    printTests(out, {options.target.seed, options.csv}, tried->tested, tried->results);
    verdict.count(tried->results);
  };
  for (spec::CheckedProcess& process : processes) show(trySpec(state, process, request));
  for (const ast::Callable* callable : callables) show(trySpec(state, *callable, request));
  const int status = finish(out, state, kOk);
  return status != kOk ? status : static_cast<int>(verdict.status());
}

}  // namespace tbem::driver
