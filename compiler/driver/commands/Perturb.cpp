// tbemc perturb: searches for inputs that make trained networks slow, each in this process.
#include "compiler/driver/commands/Perturb.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/commands/Train.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/run/RunPerturbations.h"
#include "compiler/run/weights/SavePoints.h"
#include "compiler/run/weights/StepFile.h"
#include "compiler/show/Out.h"
#include "compiler/show/perturb/PerturbReport.h"

namespace tbem::driver {

namespace {

/// Whether there is a store that outlives the command.
bool keepsPoints(const PipelineState& state) {
  return !state.request.campaign.store.empty() || !state.workspace->beside(".tbemdb").empty();
}

/// Of a state that has passed `train`. The exit status, as of runTrainings.
int runPerturbations(show::Out& out, PipelineState& state, const PipelineView& view, bool points) {
  PerturbReport report(out, {.backend = state.backendName, .keeps = keepsPoints(state), .points = points});
  state.listener = &report;
  const Progressed done = runPipeline(out, state, view, "perturb");
  state.listener = nullptr;
  int status = kOk;
  for (const Perturbed& perturbed : state.perturbed) {
    if (perturbed.outcome && perturbed.outcome->interrupted) return kInterrupted;
    const int ended = perturbed.outcome ? static_cast<int>(kOk) : out.fail(perturbed.outcome.error());
    if (status == kOk) status = ended;
  }
  return status == kOk && !done.proceed ? done.status : status;
}

}  // namespace

int runTrainingsAndPerturbations(show::Out& out, PipelineState& state, const PipelineView& view, bool points) {
  const int trained = runTrainings(out, state, view);
  if (trained == kInterrupted || !state.done.contains("train")) return trained;
  const int perturbed = runPerturbations(out, state, view, points);
  return trained != kOk ? trained : perturbed;
}

namespace {

struct PerturbOptions : CommandOptions {
  bool points = false;
  std::string save;
};

void declare(OptionList& list, PerturbOptions& o) {
  addProgram(list, o, {.text = "the program's text itself, in place of a FILE", .inputs = false});
  addRows(list, o, {.choice = false});
  addStore(list, o.campaign.store);
  list.add("--out", o.training.folder, "folder of the trainings' checkpoints (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, "seed of trainings and searches, where the program has none (default: 0)");
  list.flag("--fresh", o.training.fresh, "train anew, whatever the checkpoint has");
  list.flag("--again", o.campaign.fresh, "search anew, whatever the store has");
  list.flag("--points", o.points, "show each point that was found");
  list.add("--save", o.save, "write the points' numbers to this .npz or .safetensors file").type("FILE");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const PerturbOptions& options) { return unheededRows(given, options, {}); }

int run(show::Out& out, const PerturbOptions& options) {
  if (!options.save.empty()) {
    if (const auto ready = canSaveArrays(options.save); !ready) return out.fail(ready.error());
  }
  return withTrainings(out, options, [&](PipelineState& state, PipelineView& view) {
    if (state.perturbations.empty()) {
      out.failure("there is nothing to perturb: the program has no `perturb`");
      return static_cast<int>(kUsage);
    }
    if (outFolder(*state.workspace, options.training.folder).empty()) {  // told before it trains, not after
      out.failure(kNoWeights);
      return static_cast<int>(kUsage);
    }
    if (!options.save.empty() && !keepsPoints(state)) {
      out.failure("--save writes what the store has, and this program is no file and has none: --store FILE keeps one");
      return static_cast<int>(kUsage);
    }
    const int status = runTrainingsAndPerturbations(out, state, view, options.points);
    if (options.save.empty() || status == kInterrupted || state.perturbed.empty()) return status;
    const StoreFile store(*state.workspace, options.campaign.store);
    const auto saved = savePoints(state, store.path(), options.save);
    const int written = saved ? static_cast<int>(kOk) : out.fail(saved.error());
    return status != kOk ? status : written;
  });
}

}  // namespace

const Command kPerturb = {"perturb", "search, near a dataset's examples, for inputs that make trained networks slow",
                          Takes::ProgramInPlace, true, invocation<PerturbOptions, declare, unheeded, run>};

}  // namespace tbem::driver
