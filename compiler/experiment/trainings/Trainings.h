// The `train` declarations of a program, read and checked: what each reads, its graphs, its plan.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/graph/read/Training.h"
#include "runtime/data/Dataset.h"
#include "runtime/train/Trainer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace tbem::driver {

/// One training. Its graphs are designs of one row, so that they are estimated, lowered and compiled as all rows are.
struct TrainingRun {
  graph::TrainingSpec spec;
  graph::DataShape shape;
  const data::Reader* reader = nullptr;
  data::Settings settings;
  data::Description about;
  train::Plan plan;  ///< without the slot of the rate, which code has
  train::Sizes sizes;
  std::unique_ptr<DesignRun> step;                                ///< forward, backward, update
  std::vector<std::unique_ptr<DesignRun>> turns;                  ///< the steps of clauses `turn`, in front of it
  std::map<std::int64_t, std::unique_ptr<DesignRun>> evaluation;  ///< by batch: the loss at inference
  std::unique_ptr<DesignRun> mover;                               ///< of clause `harden`; null: there is none
  const TrainingRun* startsFrom = nullptr;                        ///< of clause `weights`, where it names a training

  explicit TrainingRun(graph::TrainingSpec spec) : spec(std::move(spec)) {}
};

/// Those of the program's own file, in order. Mistakes go to the session; a training that has one is left out.
std::vector<std::unique_ptr<TrainingRun>> makeTrainings(Workspace& workspace, const Target& target);

/// By which name the hash of what clause `weights` reads stands in an identity, to which whoever reads it adds it.
constexpr const char* kStartHash = "those weights";
/// What must be the same for a checkpoint to be taken up: names and values, for people as well. `fingerprint`: of the dataset.
std::vector<std::pair<std::string, std::string>> identityOf(const TrainingRun& training, const graph::Row& step,
                                                            const std::string& backend, std::uint64_t fingerprint);

}  // namespace tbem::driver
