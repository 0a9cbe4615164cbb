// A network with gates, what moves its inputs, and what learns to, as executables whose steps are written here, in one arena.
//
// An example has four numbers. The network leaves by `a.exit` where their mean is below its weight w[0], and else leaves out the
// arm of `b.skip` where it is below w[1]; it predicts class 1 where the first number is above 0.5, and else class 0.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tbem::perturb::toy {

constexpr std::int64_t kElements = 4, kBatch = 4;
constexpr double kRadius = 0.2;
/// FLOPs of an example that leaves at `a`, that leaves out `b`, and that runs all.
constexpr double kLeaves = 105, kSkips = 151, kRuns = 350;

/// What the steps saw since it was last cleared, and what they are asked to do. Steps of several threads write to it in turn.
struct Log {
  std::vector<std::vector<float>> victim;   ///< inputs of each run of the batch
  std::vector<std::vector<float>> single;   ///< the same of the one of one example
  std::vector<std::vector<float>> seeds;    ///< of each run of a mover
  std::vector<std::uint64_t> steps;         ///< the numbers of these
  std::vector<std::vector<float>> learner;  ///< inputs of each step of the learner
  std::vector<double> losses;
  std::function<void(std::uint64_t step)> moves;  ///< called by each run of a mover, on its thread
  std::int64_t nanAt = 0;                         ///< the loss of this step of the learner is not finite; 0: all are
  bool changesVictim = false;                     ///< the learner writes the network's weight
};
Log& log();

/// Every number of example e is `values[e]`; its label is e % 2, or there is none.
class Data final : public data::Dataset {
public:
  explicit Data(std::vector<float> test, std::vector<float> train = {}, bool hasLabels = true);
  const data::Description& description() const override { return about; }
  std::uint64_t fingerprint() const override { return 0; }
  tl::expected<void, std::string> read(data::Split split, std::span<const std::int64_t> examples,
                                       const data::Batch& into) const override;

private:
  data::Description about;
  std::vector<float> ofTest, ofTrain;
};

enum class Move : std::uint8_t {
  Rise,    ///< 0.05 up from where it is, as far as ball and box go
  Wave,    ///< 0.05, 0.2, 0.1, 0.1, .. above the example, by a state that counts
  Random,  ///< anywhere in ball and box, by Philox
  Label,   ///< 0.1 times the label above the example
  Far,     ///< 0.3 above the example
  Nan,     ///< the third example is not a number
  Learned  ///< the learner's weight above the example
};

/// Everything that Plan and methods point to. Not copied: a victim points to its executables.
struct World {
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  Method method(Move move, std::int64_t steps = 1, std::int64_t look = 1) const;
  /// `Move::Learned` with its training: `count` examples of the training split.
  Method learned(std::int64_t epochs, std::int64_t count) const;
  Plan plan(std::int64_t count) const;

  runtime::Executable batch, single, learner;
  std::vector<runtime::Executable> movers;  ///< by Move
  train::Snapshot weights;                  ///< w: 0.25, 0.5
  Victim victim;
};

}  // namespace tbem::perturb::toy
