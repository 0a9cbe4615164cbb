// The loss and accuracy of a network at inference over many examples, by executables of several batch sizes, with the weights
// and buffers that lie in the arena.
#pragma once

#include "runtime/train/Feed.h"
#include "runtime/train/Trainer.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

namespace tbem::train {

/// Labels that are the place of the largest output along `axis`; of equal ones the first counts, and a NaN is never the largest.
/// `labels`: row-major, in the shape of `outputs` without the axis.
std::int64_t countCorrect(const runtime::HostTensor& outputs, std::size_t axis, std::span<const std::int64_t> labels);

/// Adds the step that the instance ran last, on the `examples` that were fed last. Returns its loss.
tl::expected<double, TrainFailure> addStep(runtime::Instance& instance, const Machine& machine, const Feed& feed,
                                           std::size_t examples, Tally& tally);

class Evaluation {
public:
  /// All must outlive it. The arena is that of the machine's executables.
  Evaluation(const data::Dataset& dataset, const Machine& machine, std::int64_t batch, runtime::Arena& arena)
      : machine(machine), batch(batch), arena(arena), feed(dataset, machine.inputs) {}

  /// Over all these examples, in batches and one remainder. `next` is asked before each batch: false ends it without a score.
  tl::expected<std::optional<Score>, TrainFailure> run(data::Split split, std::span<const std::int64_t> examples,
                                                       const std::function<bool()>& next);

private:
  /// The executable for this many examples, at work; made on first use.
  tl::expected<runtime::Instance*, TrainFailure> instanceOf(std::int64_t size);

  const Machine& machine;
  std::int64_t batch;
  runtime::Arena& arena;
  std::map<std::int64_t, std::unique_ptr<runtime::Instance>> instances;  ///< by their number of examples
  Feed feed;
};

}  // namespace tbem::train
