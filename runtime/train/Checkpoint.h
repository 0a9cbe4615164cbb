// A training's checkpoint: one .safetensors file that has all that the rest of the training depends on.
//
// Arrays: weight/PATH, buffer/PATH, state/PATH (of the optimiser), and with validation best/weight/PATH, best/buffer/PATH. So
// `tbemc step --load` reads it. Metadata: `tbem` = "training 1", `identity` and `machine` (JSON objects of texts), `progress` (a
// JSON object), and `checksum` of all of it, which files from before it was written lack. Numbers are written so that they read
// back as they were. Written atomically: a reader sees this checkpoint or the one before it.
#pragma once

#include "runtime/train/Snapshot.h"
#include "runtime/train/Trainer.h"

#include <optional>
#include <string>

namespace tbem::train {

/// Where a training stands.
struct Progress {
  std::int64_t epoch = 0;    ///< epochs that are over
  std::int64_t inEpoch = 0;  ///< steps of the one in hand
  std::int64_t step = 0;     ///< steps in all
  Tally tally;               ///< of the epoch in hand; -1 counted: of a checkpoint from before labels could have no class
  double seconds = 0;        ///< likewise
  std::optional<double> bestLoss;
  std::int64_t bestEpoch = 0;
  std::vector<EpochReport> epochs;
  bool ended = false, early = false;
  std::optional<Score> test;
};

struct Checkpoint {
  Progress progress;
  Snapshot now, best;
  std::vector<std::pair<std::string, std::string>> identity, machine;  ///< as Keeping's
};

/// Makes the folder of `path` where it is not there. Errors: why it cannot be made or written into.
tl::expected<void, std::string> prepareFolder(const std::string& path);
tl::expected<void, std::string> writeCheckpoint(const std::string& path, const Checkpoint& checkpoint);
/// Nothing where there is no such file. Errors: what the file is instead, with its path and a way out.
tl::expected<std::optional<Checkpoint>, std::string> readCheckpoint(const std::string& path);

/// "batch was 64, is 128; seed was 1, is 2": what differs, or "".
std::string differences(const std::vector<std::pair<std::string, std::string>>& was,
                        const std::vector<std::pair<std::string, std::string>>& is);

}  // namespace tbem::train
