// tbemc what-if: on which devices a row's step fits in eager PyTorch, and what changes of the step, the libraries or the
// allocator would save.
#include "compiler/explore/WhatIf.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/WhatIfReport.h"

#include <fmt/format.h>

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
  PipelineState state(options, out);
  state.firstRowOnly = true;
  state.questions.whatIf = &options.question;
  return runAndPrint(out, state, options.stages, "what-if", [&] {
    printWhatIf(out, options.question, state.answered);
    return kOk;
  });
}

}  // namespace

const Command kWhatIf = {"what-if", "the GPUs that a step fits in PyTorch, and what changes of it would save; nothing is run",
                         Takes::Program, false, invocation<WhatIfOptions, declare, unheeded, run>};

}  // namespace tbem::driver
