#include "compiler/run/RunTrainings.h"

#include "compiler/run/weights/StartWeights.h"

#include "compiler/backends/Algorithms.h"
#include "compiler/count/GateFlops.h"
#include "compiler/experiment/Identity.h"
#include "compiler/experiment/trainings/Ball.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/run/search/Searches.h"
#include "compiler/support/Interrupts.h"

#include "runtime/perturb/Hardener.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// Native code of a training's graphs, which run in one arena.
struct CompiledTraining {
  jit::Compiled step;
  std::vector<jit::Compiled> turns;                  ///< of clauses `turn`
  std::map<std::int64_t, jit::Compiled> evaluation;  ///< by batch
  std::optional<jit::Compiled> mover;                ///< of clause `harden`
};

/// A training's rows, which run in one arena, in one order: its step, those of its turns, its evaluations, what hardens it.
std::vector<NamedRow> rowsOf(State& state, const TrainingRun& training) {
  std::vector<NamedRow> rows{{"the training step", state.rowOf(training.step.get())}};
  for (const auto& turn : training.turns)
    rows.push_back({fmt::format("the step of turn {}", rows.size()), state.rowOf(turn.get())});
  for (const auto& [batch, run] : training.evaluation)
    rows.push_back({fmt::format("the evaluation of {} examples", batch), state.rowOf(run.get())});
  if (training.mover != nullptr) rows.push_back({"what hardens it", state.rowOf(training.mover.get())});
  return rows;
}

tl::expected<CompiledTraining, Failed> compileTraining(State& state, const TrainingRun& training) {
  if (state.sink().hasErrors()) return failed(kProgramErrors);
  auto code = compileTogether(rowsOf(state, training), state.backend.device.isa);
  if (!code) {
    Failed why = std::move(code).error();
    if (why.status == kRunFailed)
      why.messages.front() = fmt::format("train {}: {}", training.spec.decl->name.text, why.messages.front());
    return tl::unexpected(std::move(why));
  }
  auto next = code->begin();
  const auto take = [&] { return std::move(*next++); };
  CompiledTraining compiled{take(), {}, {}, {}};
  compiled.turns.reserve(training.turns.size());  // who runs them points to them
  for (std::size_t k = 0; k < training.turns.size(); ++k) compiled.turns.push_back(take());
  for (const auto& [batch, run] : training.evaluation) compiled.evaluation.emplace(batch, take());
  if (training.mover != nullptr) compiled.mover = take();
  return compiled;
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

/// What an example costs in each branch of the network at inference; empty without gates.
std::vector<double> branchFlops(State& state, const TrainingRun& training) {
  if (training.evaluation.empty()) return {};
  const auto& [batch, run] = *training.evaluation.begin();
  const graph::Row& row = *state.rowOf(run.get())->elaborated;
  const auto flops = estimate::countFlops(row.graph(), row.values);
  if (!flops) return {};  // that it counts was seen when it was estimated
  return estimate::branchFlopsOfSample(*flops, batch);
}

/// The learning rates of the step's optimisers (graph::experimentOf makes each a scalar of its own).
std::vector<train::Rate> ratesOf(const runtime::Executable& step) {
  std::vector<train::Rate> rates;
  for (std::size_t i = 0; i < step.scalarNames.size(); ++i) {
    if (step.scalarNames[i] == "optimizer.lr") rates.push_back({static_cast<std::uint32_t>(i), step.scalars[i]});
  }
  return rates;
}

/// `code` must outlive it.
train::Machine machineOf(State& state, const TrainingRun& training, const CompiledTraining& code) {
  train::Machine machine;
  machine.backend = state.backend.backend;
  machine.step = &code.step.executable;
  for (std::size_t k = 0; k < code.turns.size(); ++k) {
    const runtime::Executable& step = code.turns[k].executable;
    machine.turns.push_back({&step, ratesOf(step), training.spec.turns[k].repeat});
  }
  for (const auto& [batch, evaluation] : code.evaluation) machine.evaluation.emplace(batch, &evaluation.executable);
  for (const ast::Parameter& input : training.spec.network->tensors) machine.inputs.push_back(input.name.text);
  machine.classAxis = classAxisOf(state, training, machine);
  machine.lossOfLabels = graph::isMeanOfLabels(training.spec, training.shape);
  machine.branchFlops = branchFlops(state, training);
  if (code.mover) {
    const graph::Hardening& harden = *training.spec.harden;
    perturb::Plan plan;
    plan.batch = training.plan.batch;
    plan.seed = training.plan.seed;
    takeBall(plan, harden.ball);
    const auto moved = static_cast<std::int64_t>(std::ceil(harden.share.toDouble() * static_cast<double>(plan.batch)));
    machine.hardening = perturb::hardening(methodOf(harden.method, machine.inputs.front(), &code.mover->executable), plan, moved);
  }
  return machine;
}

/// What decides the last bits of a step beside the program.
std::vector<std::pair<std::string, std::string>> machineText(State& state, const TrainingRun& training) {
  const tbem_device_info& device = state.backend.device;
  const auto algorithmsOf = [&](const DesignRun& step) {
    return algorithmsText(*state.rowOf(&step)->program, training.step->tuning);
  };
  std::string algorithms = algorithmsOf(*training.step);
  for (const auto& turn : training.turns) algorithms += algorithmsOf(*turn);
  return {{"processor", fmt::format("{} {} {}", device.name, device.isa, device.library)},
          {"threads", fmt::format("{}", threadsOf(state.request.target, device))},
          {"algorithms", jit::hashKey(algorithms)}};
}

StartFolders startFolders(const State& state, const TrainingRun& training, const std::string& checkpoint) {
  const Source* const program = state.workspace->session.sources.find(training.spec.decl->range.begin);
  return {program != nullptr ? std::filesystem::path(program->name).parent_path().string() : "",
          std::filesystem::path(checkpoint).parent_path().string()};
}

ExitCode statusOf(const train::TrainFailure& failure) {
  return failure.kind == train::TrainFailure::Kind::Run ? kRunFailed : kEnvironment;
}

train::Observer observerOf(RunEvents& events, const TrainingRun& training, const Interruptible& run) {
  train::Observer observer;
  observer.epoch = [&](const train::EpochReport& report) { events.epoch(training, report); };
  observer.step = [&](const train::StepReport& report) { events.step(training, report); };
  observer.progress = [&](std::int64_t done, std::int64_t total, const std::string& what, double left) {
    events.training(training, done, total, what, left);
  };
  observer.stop = [&run] { return run.isToEnd(); };
  return observer;
}

}  // namespace

std::optional<AddedCost> addedCost(State& state, const TrainingRun& training, const estimate::Convention& convention) {
  AddedCost cost;
  bool isLowered = !state.sink().hasErrors();
  /// Of what runs so many times before each step. False: it has a mistake.
  const auto add = [&](const DesignRun& run, std::int64_t times, std::optional<double>& sum) {
    const RowState* row = state.rowOf(&run);
    if (row == nullptr) return false;
    const auto flops = estimate::countFlops(row->elaborated->graph(), row->elaborated->values, convention);
    if (!flops) return false;
    sum = sum.value_or(0) + estimate::toDouble(flops->most.step()) * static_cast<double>(times * training.sizes.total);
    isLowered = isLowered && row->program.has_value();
    return true;
  };
  if (training.mover != nullptr && !add(*training.mover, training.spec.harden->method.steps, cost.moves)) return std::nullopt;
  for (std::size_t k = 0; k < training.turns.size(); ++k) {
    if (!add(*training.turns[k], training.spec.turns[k].repeat, cost.turns)) return std::nullopt;
  }
  if (!cost.moves && !cost.turns) return std::nullopt;
  if (!isLowered) return cost;
  if (const auto linked = estimate::link(functionsOf(rowsOf(state, training)))) cost.arena = linked->arena;
  return cost;
}

tl::expected<train::Outcome, Failed> runTraining(RunEvents& events, State& state, const TrainingRun& training,
                                                 const Checkpointing& checkpoint) {
  const Interruptible run(state.request.interrupts);
  const auto code = compileTraining(state, training);
  if (!code) return tl::unexpected(code.error());
  const auto dataset = training.reader->open(training.settings);
  if (!dataset) return failed(kEnvironment, dataset.error());
  train::Machine machine = machineOf(state, training, *code);
  std::optional<StartWeights> start;
  if (training.spec.start) {
    auto found = startOf(training, *state.rowOf(training.step.get())->elaborated, startFolders(state, training, checkpoint.path));
    if (!found) return tl::unexpected(found.error());
    start.emplace(std::move(*found));
    machine.start = [&start, &events](runtime::Instance& instance) -> tl::expected<void, std::string> {
      const auto loaded = loadArrays(start->comparison, start->partial, instance);
      if (!loaded) return tl::unexpected(fmt::format("{}: {}", start->path, loaded.error()));
      events.note(startText(*start));
      return {};
    };
  }
  train::Plan plan = training.plan;
  plan.rates = ratesOf(*machine.step);
  train::Keeping keeping;
  keeping.path = checkpoint.path;
  keeping.fresh = checkpoint.fresh;
  keeping.identity =
      identityOf(training, *state.rowOf(training.step.get())->elaborated, state.backendName, (*dataset)->fingerprint());
  if (start) keeping.identity.emplace_back(kStartHash, start->hash);
  for (const auto& turn : training.turns) {
    const graph::Row& step = *state.rowOf(turn.get())->elaborated;
    keeping.identity.emplace_back("the graph of a turn", graphIdentity(step.structure->graph, step.values));
  }
  if (training.mover != nullptr) {
    // What its clause says by names of values.
    const graph::Row& mover = *state.rowOf(training.mover.get())->elaborated;
    keeping.identity.emplace_back("what hardens it", graphIdentity(mover.structure->graph, mover.values));
  }
  keeping.machine = machineText(state, training);
  events.trainingBegins(training, keeping.path);
  auto outcome = train::run(plan, **dataset, machine, keeping, observerOf(events, training, run));
  events.trainingEnds(training, outcome ? &*outcome : nullptr, keeping.path);
  if (!outcome)
    return failed(statusOf(outcome.error()), fmt::format("train {}: {}", training.spec.decl->name.text, outcome.error().message));
  return std::move(*outcome);
}

}  // namespace tbem::driver
