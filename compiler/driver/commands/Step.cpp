// tbemc step: one row's step, once, with its numbers saved or taken from a file.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/run/weights/RunStep.h"
#include "compiler/show/Out.h"
#include "compiler/show/rows/Profile.h"
#include "compiler/show/rows/StepReport.h"

#include <string>

namespace tbem::driver {

namespace {

struct StepOptions : CommandOptions {
  StepRequest step;
  bool profile = false;
};

void declare(OptionList& list, StepOptions& o) {
  addProgram(list, o);
  addRows(list, o);
  addSeed(list, o, "seed of inputs and weights (default: 0)");
  list.add("--save", o.step.save, "write inputs, weights, gradients, outputs and loss to this .npz or .safetensors file")
      .type("FILE");
  list.add("--repeat", o.step.repeat, "time the step so many times more").wholeNumber(1, 1'000'000);
  list.add("--steps", o.step.steps,
           "so many steps on the same inputs (default: 1); gradients, outputs and loss are those of the last")
      .wholeNumber(1, 1'000'000);
  const Option load =
      list.add("--load", o.step.load, "start from the inputs, weights and buffers of this .npz, .safetensors or .pth file")
          .type("FILE");
  list.add("--names", o.step.names, "whose names the file of --load has: torchvision, or a table of names (docs/weights.md)")
      .type("SET")
      .needs(load);
  list.flag("--partial", o.step.partial, "take what fits from the file of --load, leave the rest as initialised").needs(load);
  list.flag("--profile", o.profile, "time each operator and loop of the step");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const StepOptions& options) { return unheededRows(given, options, {}); }

int run(show::Out& out, const StepOptions& options) {
  const StepRequest& request = options.step;
  const auto given = openStepFiles(request);
  if (!given) return out.fail(given.error());
  PipelineState state(options, out);
  state.marks = options.profile;
  state.firstRowOnly = true;
  state.timing = options.profile;
  // A step that is timed is the one that is planned: its gradients end with their updates.
  state.keepResults = !request.save.empty() || (!request.repeat && !options.profile);
  if (const Progressed done = runPipeline(out, state, options.stages, "code"); !done.proceed) return done.status;
  const RowState* const first =
      firstRow(out, state,
               "there is no step to run: the program has no design of a network (or give --input, and --task, for its network)");
  if (first == nullptr) return finish(out, state, kUsage);
  const RowState& row = *first;
  const auto outcome = runStep(state, row, *given, request);
  if (!outcome) return finish(out, state, outcome.error());
  printStep(out, row, state.backendName, *outcome, request.save);
  if (options.profile) {
    if (const auto done = printProfile(out, state, row); !done) {
      out.failure(done.error());
      return finish(out, state, kRunFailed);
    }
  }
  return finish(out, state, kOk);
}

}  // namespace

const Command kStep = {"step", "run one row's step once; save or load its numbers", Takes::Program, true,
                       invocation<StepOptions, declare, unheeded, run>};

}  // namespace tbem::driver
