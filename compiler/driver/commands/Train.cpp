// tbemc train: the trainings of a program, in order, each in this process.
#include "compiler/driver/commands/Train.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/run/RunTrainings.h"
#include "compiler/show/Out.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/rows/TrainReport.h"

namespace tbem::driver {

int runTrainings(show::Out& out, State& state, const TrainOptions& options) {
  int status = kOk;
  for (const auto& training : state.trainings) {
    TrainReport report(out, state.backendName);
    const auto outcome = runTraining(report, state, *training,
                                     {checkpointPath(*state.workspace, *training, options.folder), options.fresh});
    if (outcome && outcome->status == train::Outcome::Status::Interrupted) return kInterrupted;
    const int ended = outcome ? static_cast<int>(kOk) : out.fail(outcome.error());
    if (status == kOk) status = ended;
  }
  return status;
}

namespace {

struct TrainCommandOptions : CommandOptions {
  TrainOptions train;
};

void declare(OptionList& list, TrainCommandOptions& o) {
  addProgram(list, o, {.text = "the program's text itself, in place of a FILE", .inputs = false});
  addRows(list, o, {.choice = false});
  list.add("--out", o.train.folder, "folder for checkpoints (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, "seed of weights and of the order of examples, where the program has none (default: 0)");
  list.flag("--fresh", o.train.fresh, "train anew, whatever the checkpoint has");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const TrainCommandOptions& options) { return unheededRows(given, options, {}); }

int run(show::Out& out, const TrainCommandOptions& options) {
  if (const auto ready = foldersReady("", options.train.folder); !ready) return out.fail(ready.error());
  State state(options, out);
  state.trainingsOnly = true;
  state.timing = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "lower"); !done.proceed) return done.status;
  if (state.trainings.empty()) {
    out.failure("there is nothing to train: the program has no `train`");
    return finish(out, state, kUsage);
  }
  return finish(out, state, runTrainings(out, state, options.train));
}

}  // namespace

const Command kTrain = {"train", "run the program's trainings; each goes on where its checkpoint ends", Takes::ProgramInPlace, true,
    invocation<TrainCommandOptions, declare, unheeded, run>};

}  // namespace tbem::driver
