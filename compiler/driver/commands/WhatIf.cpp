// tbemc what-if: on which devices a row's step fits in eager PyTorch, and what changes of the step, the libraries or the
// allocator would save.
#include "compiler/explore/WhatIf.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/WhatIfReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tbem::driver {

namespace {

struct WhatIfOptions : CommandOptions {
  WhatIfRequest question;
};

void declare(OptionList& list, WhatIfOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = "backend: pytorch (default, and the only one)", .planned = kPlanned});
  addVary(list, o.question.vary);
  addReserve(list, o.question.reserve, "");
  addPyTorch(list, o.question.eager, o.question.engines,
             {.eager = "",
              .cudnn = "",
              .device = "the GPU of the changes (default: h200): a100, rtx4090, .., or a record of the program"});
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const WhatIfOptions& options) {
  return unheededRows(given, options, {.notPlanned = notPlanned("what-if"), .ofPlan = {}, .card = true});
}

bool isComplete(const auto& answers) {
  return std::ranges::all_of(answers, [](const auto& answer) { return answer.taken.complete; });
}

/// An exit status.
int ask(show::Out& out, WhatIf question) {
  const Answers<DeviceAnswer> devices = question.devices();
  printDeviceAnswers(out, question, devices);
  if (!devices.ended) return out.fail(devices.ended.error());
  const Answers<ChangeAnswer> changes = question.changes();
  printChangeAnswers(out, question, changes);
  if (!changes.ended) return out.fail(changes.ended.error());
  if (!isComplete(devices.all) || !isComplete(changes.all))
    out.note("at least: what a process takes beside its tensors was not measured on these devices");
  if (!question.hasFactor())
    out.note(fmt::format("{} has no factor of whole numbers called {}: --vary names one, for its largest level",
                         question.row().run->spec.name, question.request().vary));
  return kOk;
}

int askOf(show::Out& out, State& state, const WhatIfRequest& request) {
  bool any = false;
  for (const auto& run : state.designs.runs) {
    RowState* row = run->experiment == nullptr ? nullptr : state.rowOf(run.get());
    if (row == nullptr) continue;
    any = true;
    if (const int status = ask(out, WhatIf(state, *row, request)); status != kOk) return status;
  }
  if (any) return kOk;
  out.failure("the program has no design of a network: give --input image=batch,3,224,224 (and --task) for its network");
  return kUsage;
}

int run(show::Out& out, const WhatIfOptions& given) {
  WhatIfOptions options = given;
  options.program.varied = options.question.vary;
  if (options.target.backend.empty()) options.target.backend = "pytorch";
  if (options.target.backend != "pytorch") {
    out.failure(fmt::format("what-if is of eager PyTorch on GPUs, not of {}", options.target.backend));
    return kUsage;
  }
  if (const std::string why = wrongReserve(options.question.reserve, options.target.backend, true); !why.empty()) {
    out.failure(why);
    return kUsage;
  }
  State state(options, out);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "graph"); !done.proceed) return done.status;
  tellLeftOut(state);
  return finish(out, state, askOf(out, state, options.question));
}

}  // namespace

const Command kWhatIf = {"what-if", "the GPUs that a step fits in PyTorch, and what changes of it would save; nothing is run",
                         Takes::Program, false, invocation<WhatIfOptions, declare, unheeded, run>};

}  // namespace tbem::driver
