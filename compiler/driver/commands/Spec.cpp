// tbemc spec: the processes of a program, their functional scenarios, and what was proved of them, of networks and of designs;
// the budgets of designs.
#include "compiler/driver/commands/Spec.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/BudgetReport.h"
#include "compiler/show/proofs/ProofReport.h"

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
  list.add("--cudnn", o.engines.cudnn,
           "of budgets in PyTorch: the folder of the cuDNN to ask, a file of what one answered elsewhere, or none, so that the "
           "answer is the same everywhere")
      .type("PATH")
      .showDefault()
      .excludes(tests);
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

/// Errors: PyTorch cannot be asked.
int lookAtBudgets(show::Out& out, State& state, const SpecOptions& options) {
  const auto budgets = checkBudgets(state, {.plans = true, .pytorch = true, .eager = {}, .engines = options.engines});
  if (!budgets) return out.fail(budgets.error());
  if (!out.display.sarif) printBudgets(out, state.workspace->session.sources, *budgets);
  return kOk;
}

int run(show::Out& out, const SpecOptions& options) {
  if (options.tests) return runSpecTests(out, options);
  if (options.program.files.size() > 2) {
    out.failure("`tbemc spec` takes a program and the name of a process or network");
    return kUsage;
  }
  const std::string only = options.program.files.size() == 2 ? options.program.files[1] : std::string();
  PipelineState state(options, out);
  state.proofs = spec::Work(options.effort);
  state.questions.proofs = {only};
  const int status = runAndPrint(out, state, options.stages, "spec", [&] {
    if (!state.done.contains("spec")) return static_cast<int>(kOk);
    printProofs(out, *state.workspace, state.proved, options.strict);
    return only.empty() ? lookAtBudgets(out, state, options) : kOk;
  });
  return status == kOk && state.proved.against(options.strict) ? kVerdictAgainst : status;
}

}  // namespace

const Command kSpec = {"spec", "the processes of a program: functional scenarios, and what is proved of them", Takes::Programs,
                       false, invocation<SpecOptions, declare, unheeded, run>};

}  // namespace tbem::driver
