// tbemc train: the trainings of a program, in order, each in this process.
#include "compiler/driver/commands/Train.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/run/RunTrainings.h"
#include "compiler/show/Out.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/rows/TrainReport.h"

namespace tbem::driver {

int runTrainings(show::Out& out, State& state, const Options& options) {
  int status = kOk;
  for (const auto& training : state.trainings) {
    TrainReport report(out, state.backendName);
    const auto outcome = runTraining(report, state, *training,
                                     {checkpointPath(*state.workspace, *training, options.out), options.campaign.fresh});
    if (outcome && outcome->status == train::Outcome::Status::Interrupted) return kInterrupted;
    const int ended = outcome ? static_cast<int>(kOk) : out.fail(outcome.error());
    if (status == kOk) status = ended;
  }
  return status;
}

int runTrain(show::Out& out, const Options& options) {
  if (const auto ready = foldersReady(options.campaign.store, options.out); !ready) return out.fail(ready.error());
  State state(options, out);
  state.trainingsOnly = true;
  state.timing = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "lower"); !done.proceed) return done.status;
  if (state.trainings.empty()) {
    out.failure("there is nothing to train: the program has no `train`");
    return finish(out, state, kUsage);
  }
  return finish(out, state, runTrainings(out, state, options));
}

}  // namespace tbem::driver
