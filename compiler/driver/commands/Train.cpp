// tbemc train: the trainings of a program, in order, each in this process.
#include "compiler/driver/commands/Train.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/run/RunTrainings.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/TrainReport.h"

namespace tbem::driver {

int runTrainings(show::Out& out, PipelineState& state, const PipelineView& view) {
  TrainReport report(out, state.backendName);
  state.listener = &report;
  const Progressed done = runPipeline(out, state, view, "train");
  state.listener = nullptr;
  int status = kOk;
  for (const Trained& trained : state.trained) {
    if (trained.outcome && trained.outcome->status == train::Outcome::Status::Interrupted) return kInterrupted;
    const int ended = trained.outcome ? static_cast<int>(kOk) : out.fail(trained.outcome.error());
    if (status == kOk) status = ended;
  }
  return status == kOk && !done.proceed ? done.status : status;
}

int withTrainings(show::Out& out, const CommandOptions& options, const RunOfTrainings& run) {
  if (const auto ready = foldersReady(options.campaign.store, options.training.folder); !ready) return out.fail(ready.error());
  PipelineView view(options.stages);
  view.mayRun = view.silent = view.ahead = true;
  PipelineState state(options, out);
  state.trainingsOnly = true;
  state.timing = true;
  if (const Progressed done = runPipeline(out, state, view, "lower"); !done.proceed) return finish(out, state, done.status);
  return finish(out, state, run(state, view));
}

namespace {

struct TrainOptions : CommandOptions {};

void declare(OptionList& list, TrainOptions& o) {
  addProgram(list, o, {.text = "the program's text itself, in place of a FILE", .inputs = false});
  addRows(list, o, {.choice = false});
  list.add("--out", o.training.folder, "folder for checkpoints (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, "seed of weights and of the order of examples, where the program has none (default: 0)");
  list.flag("--fresh", o.training.fresh, "train anew, whatever the checkpoint has");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const TrainOptions& options) { return unheededRows(given, options, {}); }

int run(show::Out& out, const TrainOptions& options) {
  return withTrainings(out, options, [&](PipelineState& state, PipelineView& view) {
    if (state.trainings.empty()) {
      out.failure("there is nothing to train: the program has no `train`");
      return static_cast<int>(kUsage);
    }
    const int status = runTrainings(out, state, view);
    if (status != kOk || !passes(options.stages.printAfter, "train")) return status;
    view.ahead = false;  // what is to be printed may be behind the last training
    return runPipeline(out, state, view, "train").status;
  });
}

}  // namespace

const Command kTrain = {"train", "run the program's trainings; each goes on where its checkpoint ends", Takes::ProgramInPlace,
                        true, invocation<TrainOptions, declare, unheeded, run>};

}  // namespace tbem::driver
