// tbemc train: the trainings of a program, in order, each in this process.
#include "compiler/driver/commands/Train.h"

#include "compiler/driver/Commands.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/run/Algorithms.h"
#include "compiler/run/Interrupt.h"
#include "compiler/show/Out.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/rows/TrainReport.h"

#include <fmt/format.h>

#include <filesystem>

namespace tbem::driver {

std::string checkpointPath(const Workspace& workspace, const TrainingRun& training, const Options& options) {
  const std::string folder = outFolder(workspace, options);
  if (folder.empty()) return {};
  return (std::filesystem::path(folder) / (training.spec.decl->name.text + ".safetensors")).string();
}

namespace {

/// Native code of all graphs of a training; the exit status.
int compileTraining(show::Out& out, State& state, const TrainingRun& training) {
  std::vector<const DesignRun*> runs{training.step.get()};
  for (const auto& [batch, run] : training.evaluation) runs.push_back(run.get());
  for (const DesignRun* run : runs) {
    if (const auto compiled = compileRow(state, *state.rowOf(run)); !compiled) return out.fail(compiled.error());
  }
  return state.sink().hasErrors() ? kProgramErrors : kOk;
}

/// The classes' dimension, where all of these executables have an output to look at and agree: its shape may depend on
/// `training`.
std::optional<std::size_t> classAxisOf(State& state, const TrainingRun& training, const train::Machine& machine) {
  const auto axisOf = [&](const DesignRun* run) {
    return graph::classAxis(training.spec, *state.rowOf(run)->elaborated, training.shape);
  };
  const auto axis = axisOf(training.step.get());
  bool agree = !machine.step->outputs.empty();
  for (const auto& [batch, run] : training.evaluation)
    agree = agree && axisOf(run.get()) == axis && !machine.evaluation.at(batch)->outputs.empty();
  return agree ? axis : std::nullopt;
}

/// The executables of a training whose rows are compiled.
train::Machine machineOf(State& state, const TrainingRun& training) {
  train::Machine machine;
  machine.backend = state.backend.backend;
  machine.step = &state.rowOf(training.step.get())->compiled->executable;
  for (const auto& [batch, run] : training.evaluation)
    machine.evaluation.emplace(batch, &state.rowOf(run.get())->compiled->executable);
  for (const ast::Parameter& input : training.spec.network->tensors) machine.inputs.push_back(input.name.text);
  machine.classAxis = classAxisOf(state, training, machine);
  machine.lossOfLabels = graph::isMeanOfLabels(training.spec, training.shape);
  return machine;
}

/// What decides the last bits of a step beside the program.
std::vector<std::pair<std::string, std::string>> machineText(State& state, const TrainingRun& training) {
  const tbem_device_info& device = state.backend.device;
  return {{"processor", fmt::format("{} {} {}", device.name, device.isa, device.library)},
          {"threads", fmt::format("{}", threadsOf(state.options, device))},
          {"algorithms", jit::hashKey(algorithmsText(*state.rowOf(training.step.get())->program, training.step->tuning))}};
}

std::uint32_t rateSlot(const runtime::Executable& step) {
  for (std::size_t i = 0; i < step.scalarNames.size(); ++i) {
    if (step.scalarNames[i] == "optimizer.lr") return static_cast<std::uint32_t>(i);
  }
  return runtime::kNone;
}

int statusOf(const train::TrainFailure& failure) {
  return failure.kind == train::TrainFailure::Kind::Run ? kRunFailed : kEnvironment;
}

int trainOne(show::Out& out, State& state, TrainingRun& training) {
  const Options& options = state.options;
  if (const int status = compileTraining(out, state, training); status != kOk) return status;
  const auto dataset = training.reader->open(training.settings);
  if (!dataset) {
    out.failure(dataset.error());
    return kEnvironment;
  }
  const train::Machine machine = machineOf(state, training);
  train::Plan plan = training.plan;
  plan.rateSlot = rateSlot(*machine.step);
  train::Keeping keeping;
  keeping.path = checkpointPath(*state.workspace, training, options);
  keeping.fresh = options.fresh;
  keeping.identity =
      identityOf(training, *state.rowOf(training.step.get())->elaborated, state.backendName, (*dataset)->fingerprint());
  keeping.machine = machineText(state, training);
  TrainReport report(out, state, training);
  report.begin(keeping.path);
  const auto outcome = train::run(plan, **dataset, machine, keeping, report.observer());
  if (!outcome) {
    report.abandon();
    out.failure(fmt::format("train {}: {}", training.spec.decl->name.text, outcome.error().message));
    return statusOf(outcome.error());
  }
  report.end(*outcome, keeping.path);
  return outcome->status == train::Outcome::Status::Interrupted ? kInterrupted : kOk;
}

}  // namespace

int runTrainings(show::Out& out, State& state) {
  const InterruptGuard guard;
  int status = kOk;
  for (const auto& training : state.trainings) {
    const int one = trainOne(out, state, *training);
    if (one == kInterrupted) return one;
    if (status == kOk) status = one;
  }
  return status;
}

int runTrain(show::Out& out, const Options& options) {
  if (const auto ready = foldersReady(options); !ready) return out.fail(ready.error());
  State state(options, out);
  state.trainingsOnly = true;
  state.timing = true;
  if (const Progressed done = runPipeline(out, state, "lower"); !done.proceed) return done.status;
  if (state.trainings.empty()) {
    out.failure("there is nothing to train: the program has no `train`");
    return finish(out, state, kUsage);
  }
  return finish(out, state, runTrainings(out, state));
}

}  // namespace tbem::driver
