#include "runtime/train/Trainer.h"

#include "runtime/train/Checkpoint.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Order.h"
#include "runtime/train/Turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

namespace tbem::train {

namespace {

using Kind = TrainFailure::Kind;
using Instance = runtime::Instance;
template <class T>
using Result = tl::expected<T, TrainFailure>;

tl::unexpected<TrainFailure> failure(Kind kind, std::string message) {
  return tl::unexpected(TrainFailure{kind, std::move(message)});
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t examplesOf(const Plan& plan, const data::Description& about) {
  const std::int64_t all = about.count(plan.split);
  return plan.count ? std::min(*plan.count, all) : all;
}

/// A weight or buffer of an evaluation that no training step has, so that nothing would fill it; nullptr: there is none.
const runtime::StorageDesc* untrained(const runtime::Executable& step, const runtime::Executable& evaluation) {
  for (const runtime::StorageDesc& storage : evaluation.storages) {
    if (storage.kind != runtime::BufferClass::Weight && storage.kind != runtime::BufferClass::Buffer) continue;
    const bool isTrained = std::ranges::any_of(step.storages, [&](const runtime::StorageDesc& other) {
      return other.kind == storage.kind && other.path == storage.path;
    });
    if (!isTrained) return &storage;
  }
  return nullptr;
}

/// Nothing: its loss is not scaled, or a state cannot be read.
std::optional<Scaling> scalingOf(const Instance& instance, std::int64_t steps) {
  std::optional<double> scale, taken;
  const auto& storages = instance.executable().storages;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    if (storages[s].kind != runtime::BufferClass::State) continue;
    const bool isScale = storages[s].path.ends_with(".loss_scale");
    if (!isScale && !storages[s].path.ends_with(".taken_steps")) continue;
    if (const auto value = instance.readStorage(s)) (isScale ? scale : taken) = value->doubles().front();
  }
  if (!scale || !taken) return std::nullopt;
  return Scaling{*scale, steps - static_cast<std::int64_t>(*taken)};
}

/// A training on its way. One class: epochs, evaluations and checkpoints go on from one state, which is what a checkpoint holds.
class Run {
public:
  Run(const Plan& plan, const data::Dataset& dataset, const Machine& machine, const Keeping& keeping, const Observer& observer)
      : plan(plan),
        dataset(dataset),
        machine(machine),
        keeping(keeping),
        observer(observer),
        sizes(sizesOf(plan, dataset.description())),
        parts(partition(plan.seed, examplesOf(plan, dataset.description()), plan.validate)),
        feed(dataset, machine.inputs) {}

  Result<Outcome> run() {
    if (auto done = prepare(); !done) return tl::unexpected(done.error());
    if (auto done = takeUp(); !done) return tl::unexpected(done.error());
    if (auto done = start(); !done) return tl::unexpected(done.error());
    if (progress.ended) {
      outcome.complete = true;
      return end();
    }
    while (!over()) {
      auto whole = epoch();
      if (!whole) return tl::unexpected(whole.error());
      if (!*whole) return interrupted();
    }
    if (plan.patience && !best.entries.empty()) {
      if (auto done = give(best, *instance); !done) return failure(Kind::Run, done.error());
    }
    if (sizes.test > 0) {
      auto score = evaluate(data::Split::Test, firstNumbers(sizes.test), "test");
      if (!score) return tl::unexpected(score.error());
      if (!*score) return interrupted();
      progress.test = **score;
    }
    progress.ended = true;
    if (auto done = save(); !done) return tl::unexpected(done.error());
    return end();
  }

private:
  static std::vector<std::int64_t> firstNumbers(std::int64_t count) { return partition(0, count, 0).train; }

  Result<void> prepare() {
    if (!keeping.path.empty()) {
      if (auto ready = prepareFolder(keeping.path); !ready) return failure(Kind::Environment, ready.error());
    }
    if (auto done = allocate(); !done) return done;
    if (auto done = instance->initialise(plan.seed); !done) return failure(Kind::Environment, done.error().message);
    auto made = Turns::create(plan, machine, *arena);
    if (!made) return tl::unexpected(made.error());
    turns.emplace(std::move(*made));
    return {};
  }

  /// One arena for the training step and its evaluations.
  Result<void> allocate() {
    std::vector<const runtime::Executable*> executables{machine.step};
    for (const auto& [size, executable] : machine.evaluation) {
      if (const auto* storage = untrained(*machine.step, *executable); storage != nullptr)
        return failure(Kind::Run, fmt::format("`{}` is read by the evaluation of {} examples, and the training step has it not",
                                              storage->path, size));
      executables.push_back(executable);
    }
    for (const Turn& turn : machine.turns) {
      if (const auto* storage = untrained(*machine.step, *turn.step); storage != nullptr)
        return failure(Kind::Run, fmt::format("`{}` is read by a turn, and the training step has it not", storage->path));
      executables.push_back(turn.step);
    }
    if (machine.hardening) {
      for (const runtime::Executable* executable : machine.hardening->executables) executables.push_back(executable);
    }
    auto memory = runtime::Arena::create(executables, *machine.backend);
    if (!memory) return failure(Kind::Environment, memory.error().message);
    arena = std::move(*memory);
    auto made = Instance::create(*machine.step, *arena);
    if (!made) return failure(Kind::Environment, made.error().message);
    instance = std::move(*made);
    evaluation.emplace(dataset, machine, plan.batch, *arena);
    if (machine.hardening) {
      auto created = machine.hardening->create(*arena);
      if (!created) return failure(Kind::Environment, created.error());
      mover = std::move(*created);
    }
    return {};
  }

  /// Begins where the checkpoint ends, if there is one.
  Result<void> takeUp() {
    if (keeping.path.empty() || keeping.fresh) return {};
    auto read = readCheckpoint(keeping.path);
    if (!read) return failure(Kind::Refused, read.error());
    if (!*read) return {};
    Checkpoint& checkpoint = **read;
    if (const std::string differ = differences(checkpoint.identity, keeping.identity); !differ.empty()) {
      return failure(Kind::Refused, fmt::format("{} is the checkpoint of another training: {}; --fresh trains anew, or --out "
                                                "keeps this one elsewhere",
                                                keeping.path, differ));
    }
    progress = std::move(checkpoint.progress);
    if (progress.tally.counted < 0) {  // every label counted
      const std::int64_t examples = progress.inEpoch * plan.batch;
      progress.tally.weight = static_cast<double>(examples);
      progress.tally.counted = examples * dataset.description().target.elements();
    }
    best = std::move(checkpoint.best);
    outcome.resumed = true;
    outcome.elsewhere = differences(checkpoint.machine, keeping.machine);
    // One that ended goes on where more epochs or steps are asked for, unless it went back to its best weights.
    if (progress.ended && !plan.patience && progress.step < sizes.total) progress.ended = false;
    auto done = give(checkpoint.now, *instance);
    if (done) done = turns->giveFrom(checkpoint.now);
    if (!done)
      return failure(Kind::Refused, fmt::format("cannot take up {}: {}; --fresh trains anew", keeping.path, done.error()));
    return {};
  }

  /// With the weights of another training or of a file, unless it goes on from its own.
  Result<void> start() {
    if (outcome.resumed || !machine.start) return {};
    if (auto done = machine.start(*instance); !done) return failure(Kind::Environment, done.error());
    return {};
  }

  /// Of step `number`, from 0.
  std::optional<double> rateOf(std::int64_t number) const {
    return plan.rate ? std::optional<double>(*plan.rate * plan.schedule.at(number)) : std::nullopt;
  }

  bool over() const {
    if (progress.early) return true;
    const bool steps = progress.step >= sizes.total && progress.inEpoch == 0;
    return steps || (plan.epochs > 0 && progress.epoch >= plan.epochs);
  }

  /// The rest of the epoch in hand, with its validation. False: it was asked to stop.
  Result<bool> epoch() {
    const auto number = static_cast<std::uint32_t>(progress.epoch);
    const std::vector<std::int64_t> order = shuffled(plan.seed, number, static_cast<std::int64_t>(parts.train.size()));
    std::vector<std::int64_t> examples(static_cast<std::size_t>(plan.batch));
    while (progress.inEpoch < sizes.stepsPerEpoch && progress.step < sizes.total) {
      if (observer.stop && observer.stop()) return false;
      const auto first = static_cast<std::size_t>(progress.inEpoch * plan.batch);
      for (std::size_t i = 0; i < examples.size(); ++i) examples[i] = parts.train[static_cast<std::size_t>(order[first + i])];
      if (auto done = step(examples, number); !done) return tl::unexpected(done.error());
    }
    EpochReport report;
    report.epoch = progress.epoch + 1;
    report.steps = progress.step;
    report.seconds = progress.seconds;
    const auto seen = static_cast<double>(progress.inEpoch * plan.batch);
    report.examplesPerSecond = progress.seconds > 0 ? seen / progress.seconds : 0;
    report.rate = rateOf(progress.step - 1);
    const auto trained = progress.tally.score(machine.classAxis.has_value());
    if (!trained) return failure(Kind::Environment, fmt::format("epoch {}: {}", report.epoch, trained.error()));
    report.train = *trained;
    if (!parts.validation.empty()) {
      auto score = evaluate(plan.split, parts.validation, "validation");
      if (!score) return tl::unexpected(score.error());
      if (!*score) return false;
      report.validation = **score;
    }
    return finishEpoch(std::move(report));
  }

  Result<void> step(std::span<const std::int64_t> examples, std::uint32_t number) {
    const double start = now();
    if (auto done = feed.load(plan.split, examples, plan.augmentation, plan.seed, number); !done)
      return failure(Kind::Environment, done.error());
    if (mover != nullptr) {
      if (auto done = mover->move(feed.numbersOf(0), progress.step + 1); !done) return failure(Kind::Environment, done.error());
    }
    if (auto done = turns->run(feed, progress.epoch, progress.step, progress.tally); !done) return done;
    if (auto done = feed.write(*instance); !done) return failure(Kind::Environment, done.error());
    const std::optional<double> rate = rateOf(progress.step);
    for (const auto& [slot, own] : plan.rates) instance->scalars()[slot] = own * plan.schedule.at(progress.step);
    if (auto done = instance->run(static_cast<std::uint64_t>(progress.step + 1)); !done)
      return failure(Kind::Run, done.error().message);
    const auto loss = addStep(*instance, machine, feed, examples.size(), progress.tally);
    if (!loss) return tl::unexpected(loss.error());
    const double value = *loss;
    if (!std::isfinite(value)) return notFinite("the loss of step", progress.step + 1, progress.epoch + 1, value);
    ++progress.step;
    ++progress.inEpoch;
    const double spent = now() - start;
    progress.seconds += spent;
    outcome.seconds += spent;
    if (plan.every > 0 && progress.step % plan.every == 0 && observer.step) observer.step({progress.step, value, rate});
    ++ownSteps;
    if (observer.progress) {
      observer.progress(progress.step, sizes.total, fmt::format("epoch {}, loss {:.4f}", progress.epoch + 1, value),
                        outcome.seconds / static_cast<double>(ownSteps) * static_cast<double>(sizes.total - progress.step));
    }
    return {};
  }

  Result<bool> finishEpoch(EpochReport report) {
    constexpr double kLeastScale = 1.0 / 16777216;  // std.nn: loss_scale
    if (const auto scaling = scalingOf(*instance, progress.step); scaling && scaling->scale <= kLeastScale) {
      return failure(Kind::Run,
                     fmt::format("epoch {}: gradients are not finite, however small the loss is scaled (2^-24 by now); a "
                                 "lower learning rate (lr), a warm-up or a step in f32 may keep them finite",
                                 report.epoch));
    }
    const bool isFinite = report.validation && std::isfinite(report.validation->loss);
    if (isFinite && (!progress.bestLoss || report.validation->loss < *progress.bestLoss)) {
      report.best = true;
      progress.bestLoss = report.validation->loss;
      progress.bestEpoch = report.epoch;
      auto taken = take(*instance, false);
      if (!taken) return failure(Kind::Run, taken.error());
      best = std::move(*taken);
    }
    progress.early = plan.patience && report.epoch - progress.bestEpoch >= *plan.patience;
    progress.epochs.push_back(report);
    progress.epoch = report.epoch;
    progress.inEpoch = 0;
    progress.tally = {};
    progress.seconds = 0;
    if (!over() && progress.epoch % plan.checkpoint == 0) {
      if (auto done = save(); !done) return tl::unexpected(done.error());
    }
    if (observer.epoch) observer.epoch(report);
    return true;
  }

  /// Over all these examples; nothing where it was asked to stop.
  Result<std::optional<Score>> evaluate(data::Split split, const std::vector<std::int64_t>& examples, const char* what) {
    return evaluation->run(split, examples, [&] {
      if (observer.progress) observer.progress(progress.step, sizes.total, what, -1);
      return !(observer.stop && observer.stop());
    });
  }

  Result<void> save() {
    if (keeping.path.empty()) return {};
    Checkpoint checkpoint;
    auto taken = take(*instance, true);
    if (!taken) return failure(Kind::Run, taken.error());
    checkpoint.now = std::move(*taken);
    if (auto done = turns->addTo(checkpoint.now); !done) return failure(Kind::Run, done.error());
    checkpoint.best = best;
    checkpoint.progress = progress;
    checkpoint.identity = keeping.identity;
    checkpoint.machine = keeping.machine;
    if (auto done = writeCheckpoint(keeping.path, checkpoint); !done) {
      return failure(Kind::Environment,
                     fmt::format("{}; the checkpoint before it is as it was, and the training goes on from there", done.error()));
    }
    return {};
  }

  Result<Outcome> interrupted() {
    if (auto done = save(); !done) return tl::unexpected(done.error());
    outcome.status = Outcome::Status::Interrupted;
    return finishOutcome();
  }

  Result<Outcome> end() {
    outcome.status = progress.early ? Outcome::Status::StoppedEarly : Outcome::Status::Finished;
    return finishOutcome();
  }

  Result<Outcome> finishOutcome() {
    outcome.epochs = progress.epochs;
    outcome.steps = progress.step;
    if (progress.bestLoss) outcome.bestEpoch = progress.bestEpoch;
    outcome.test = progress.test;
    outcome.scaling = scalingOf(*instance, progress.step);
    return std::move(outcome);
  }

  const Plan& plan;
  const data::Dataset& dataset;
  const Machine& machine;
  const Keeping& keeping;
  const Observer& observer;
  const Sizes sizes;
  const Partition parts;
  std::unique_ptr<runtime::Arena> arena;
  std::unique_ptr<Instance> instance;
  std::optional<Turns> turns;
  std::optional<Evaluation> evaluation;
  Feed feed;
  std::unique_ptr<Hardening::InputMover> mover;  ///< null: inputs stay as they are
  Progress progress;
  Snapshot best;
  Outcome outcome;
  std::int64_t ownSteps = 0;  ///< since this process began
};

}  // namespace

tl::unexpected<TrainFailure> notFinite(const std::string& what, std::int64_t step, std::int64_t epoch, double loss) {
  const char* const way = "a lower learning rate (lr), a warm-up, or clipped gradients keep it finite";
  return failure(Kind::Run, fmt::format("{} {} (epoch {}) is {}: {}", what, step, epoch, loss, way));
}

Sizes sizesOf(const Plan& plan, const data::Description& about) {
  Sizes sizes;
  const std::int64_t all = examplesOf(plan, about);
  sizes.validation = heldOut(all, plan.validate);
  sizes.train = all - sizes.validation;
  sizes.test = plan.split == data::Split::Test ? 0 : about.test;
  sizes.stepsPerEpoch = sizes.train / plan.batch;
  sizes.total = plan.steps > 0 ? plan.steps : plan.epochs * sizes.stepsPerEpoch;
  std::set<std::int64_t> batches;
  for (const std::int64_t count : {sizes.validation, sizes.test}) {
    if (count >= plan.batch) batches.insert(plan.batch);
    if (count % plan.batch != 0) batches.insert(count % plan.batch);
  }
  sizes.evaluationBatches.assign(batches.begin(), batches.end());
  return sizes;
}

tl::expected<Outcome, TrainFailure> run(const Plan& plan, const data::Dataset& dataset, const Machine& machine,
                                        const Keeping& keeping, const Observer& observer) {
  return Run(plan, dataset, machine, keeping, observer).run();
}

}  // namespace tbem::train
