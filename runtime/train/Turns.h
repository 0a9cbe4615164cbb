// The steps of a training's turns (Turn in Trainer.h), in the arena of its step.
#pragma once

#include "runtime/train/Snapshot.h"
#include "runtime/train/Trainer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tbem::train {

class Turns {
public:
  /// All must outlive it. Weights are initialised with the seed, as those of the step are. Errors: Environment.
  static tl::expected<Turns, TrainFailure> create(const Plan& plan, const Machine& machine, runtime::Arena& arena);

  /// All of them on the batch in hand, which is one of epoch `epoch`, before step `step`, both counted from 0. Adds their losses.
  tl::expected<void, TrainFailure> run(const Feed& batch, std::int64_t epoch, std::int64_t step, Tally& tally);

  /// What they have and the snapshot has not: the states of their optimisers. Errors, in words.
  tl::expected<void, std::string> addTo(Snapshot& snapshot) const;
  /// From a snapshot that has them. Errors, in words.
  tl::expected<void, std::string> giveFrom(const Snapshot& snapshot);

private:
  struct AtWork {
    const Turn* turn = nullptr;
    std::unique_ptr<runtime::Instance> instance;
  };

  explicit Turns(const Plan& plan) : plan(&plan) {}

  const Plan* plan;
  std::vector<AtWork> all;
};

}  // namespace tbem::train
