// Trains a network on a dataset: epochs of shuffled batches, validation, checkpoints, early stopping, a test at the end.
//
// What it computes is a function of the plan, the data and the executables: it is the same after any number of restarts, bit for
// bit where the backend's step is. A last batch that is not full is left out of training (every epoch has its own order, so every
// example has its turn); validation and test count every example, with an executable of the remainder's size.
#pragma once

#include "runtime/core/Decisions.h"
#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"
#include "runtime/train/Feed.h"
#include "runtime/train/Schedule.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::train {

/// A scalar of a step that the schedule moves, and what it is without it.
struct Rate {
  std::uint32_t slot = 0;
  double rate = 0;
};

struct Plan {
  data::Split split = data::Split::Train;
  std::optional<std::int64_t> count;  ///< the first so many examples of the split
  std::int64_t batch = 1;
  std::int64_t epochs = 0, steps = 0;  ///< one of them is 0: no bound
  std::uint64_t seed = 0;
  double validate = 0;  ///< share of the examples held out
  std::optional<std::int64_t>
      patience;                 ///< epochs without a lower validation loss; then, and at the end, the best weights are taken
  std::int64_t every = 0;       ///< steps between reports of single steps; 0: none
  std::int64_t checkpoint = 1;  ///< epochs between checkpoints
  Schedule schedule;
  std::optional<double> rate;  ///< the optimiser's own learning rate; nothing: it is not one number
  std::vector<Rate> rates;     ///< of the step: the optimiser's, then those of parameter groups
  Augmentation augmentation;
};

/// How many examples each part has, and how many steps there are in an epoch.
struct Sizes {
  std::int64_t train = 0, validation = 0, test = 0;
  std::int64_t stepsPerEpoch = 0;
  std::int64_t total = 0;  ///< steps in all
  /// The batches that evaluation needs executables for, each once.
  std::vector<std::int64_t> evaluationBatches;
};
Sizes sizesOf(const Plan& plan, const data::Description& about);

/// What moves the first input of each batch, with the weights as they are then: before the turns, which see what it has moved as
/// the step does.
struct Hardening {
  /// That it runs; linked with those of the machine.
  std::vector<const runtime::Executable*> executables;
  class InputMover {
  public:
    virtual ~InputMover() = default;
    /// Moves the numbers of the first input, all examples of the batch of step `step`, from 1. Errors, in words.
    virtual tl::expected<void, std::string> move(std::vector<float>& numbers, std::int64_t step) = 0;
  };
  /// Made in the arena of the training, which outlives it.
  std::function<tl::expected<std::unique_ptr<InputMover>, std::string>(runtime::Arena& arena)> create;
};

/// A step in front of the step, on the same examples, which moves weights that the other leaves as they are.
struct Turn {
  const runtime::Executable* step = nullptr;
  std::vector<Rate> rates;
  std::int64_t repeat = 1;  ///< so many in a row
};

/// The executables of one network, linked: they run in one arena and have the same weights and buffers.
struct Machine {
  const tbem_backend* backend = nullptr;
  const runtime::Executable* step = nullptr;  ///< a training step of `batch` examples; its output is kept
  std::vector<Turn> turns;
  std::map<std::int64_t, const runtime::Executable*> evaluation;  ///< by batch: the loss at inference, output kept
  std::vector<std::string> inputs;                                ///< paths, in the dataset's order
  /// The output's dimension that counts the classes of each label; nothing: there is no accuracy.
  std::optional<std::size_t> classAxis;
  bool lossOfLabels = false;  ///< the loss is a mean over the labels that have a class
  /// What an example costs in each branch of an evaluation (Executable::branches), in FLOPs; empty without gates.
  std::vector<double> branchFlops;
  std::optional<Hardening> hardening;
  /// Where a training begins that does not go on from its checkpoint: called once, behind the initialisers. Empty: there. Errors,
  /// in words.
  std::function<tl::expected<void, std::string>(runtime::Instance& instance)> start;
};

struct Score {
  double loss = 0;  ///< mean over the examples, or over the labels that have a class (Machine::lossOfLabels)
  /// Share of the labels that have a class which are the place of the largest output; nothing without classes.
  std::optional<double> accuracy;
  std::optional<double> flops;            ///< of an evaluation with gates: those of an example, in the mean
  std::vector<runtime::GateCount> gates;  ///< of an evaluation, in program order
  std::vector<double> turns;              ///< of a training: the mean loss of each turn
};
/// Of several steps: what a score is made of.
struct Tally {
  double loss = 0;           ///< each step's loss times its weight
  double weight = 0;         ///< examples; where the loss is a mean over labels, the share of them whose labels have a class
  std::int64_t correct = 0;  ///< labels that are the place of the largest output
  std::int64_t counted = 0;  ///< labels that have a class
  double flops = 0;          ///< of an evaluation with gates
  std::int64_t examples = 0;
  std::vector<runtime::GateCount> gates;
  std::vector<double> turns;  ///< by turn: the sum of its losses, each the mean of those in a row
  std::int64_t steps = 0;     ///< that the turns took part in

  /// Errors: nothing counted, so there is no mean.
  tl::expected<Score, std::string> score(bool hasAccuracy) const;
};
struct EpochReport {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t steps = 0;  ///< since the beginning
  double seconds = 0;      ///< of its steps, without validation
  double examplesPerSecond = 0;
  std::optional<double> rate;  ///< of its last step, where the plan has one
  Score train;                 ///< as the steps went, before each one's update
  std::optional<Score> validation;
  bool best = false;  ///< the lowest finite validation loss so far
};
struct StepReport {
  std::int64_t step = 0;  ///< from 1
  double loss = 0;
  std::optional<double> rate;
};

/// All calls come from the thread that trains. Any may be empty.
struct Observer {
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const StepReport&)> step;
  /// Steps done and in all, what is in hand, seconds left (negative: unknown).
  std::function<void(std::int64_t done, std::int64_t total, const std::string& what, double left)> progress;
  std::function<bool()> stop;  ///< asked between steps: true ends the training with a checkpoint
};

/// Of a step whose loss is scaled (docs/language.md, `mixed f16`), as its states say.
struct Scaling {
  double scale = 0;             ///< at the end
  std::int64_t overflowed = 0;  ///< steps that moved no weight, since gradients were not finite
};

struct Outcome {
  enum class Status : std::uint8_t { Finished, StoppedEarly, Interrupted } status = Status::Finished;
  std::vector<EpochReport> epochs;  ///< all, those before a restart too
  std::int64_t steps = 0;
  std::optional<std::int64_t> bestEpoch;  ///< with validation
  std::optional<Score> test;
  std::optional<Scaling> scaling;  ///< of its step; turns have their own
  bool resumed = false;            ///< it began from a checkpoint
  std::string elsewhere;           ///< how the machine of the checkpoint differs from this one
  bool complete = false;           ///< the checkpoint was of a training that had ended: nothing was run
  double seconds = 0;              ///< of all steps
};

/// Where a training keeps what it has done, and what must be the same for a checkpoint to be taken up again.
struct Keeping {
  std::string path;    ///< of the checkpoint (.safetensors); "": nothing is kept
  bool fresh = false;  ///< what is there is not taken up
  /// What the training is, by names: {"network", "small_cnn()"}, {"batch", "128"}, ...
  std::vector<std::pair<std::string, std::string>> identity;
  /// On what it runs: the processor, threads, algorithms. Where these differ it goes on, though not bit for bit.
  std::vector<std::pair<std::string, std::string>> machine;
};

struct TrainFailure {
  enum class Kind : std::uint8_t { Environment, Refused, Run } kind = Kind::Environment;
  std::string message;
};
/// A Run failure, with a way out. `what`: "the loss of step"; numbers from 1.
tl::unexpected<TrainFailure> notFinite(const std::string& what, std::int64_t step, std::int64_t epoch, double loss);

/// Errors: Environment (a file, memory), Refused (the checkpoint is of another training: what differs), Run (a step failed, the
/// loss is not finite; the last checkpoint stays as it was).
tl::expected<Outcome, TrainFailure> run(const Plan& plan, const data::Dataset& dataset, const Machine& machine,
                                        const Keeping& keeping, const Observer& observer);

}  // namespace tbem::train
