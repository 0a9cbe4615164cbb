// Searches, near the examples of a dataset, for inputs that make a network with gates slow (the protocol is that of DeepPerform,
// Chen et al. 2022, section 5): a method moves each example within a ball around it and within the box of valid inputs, and the
// network with its gates says what that costs.
//
// What it finds is a function of the plan, the data, the weights and the executables: it is the same after any number of
// restarts. Examples of a batch do not depend on one another. Examples of a method that the store has are not searched for again.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"
#include "runtime/train/Snapshot.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::perturb {

enum class Norm : std::uint8_t { Linf, L2 };

struct Plan {
  data::Split split = data::Split::Test;
  std::int64_t count = 0;  ///< the first so many examples of the split
  std::int64_t batch =
      1;  ///< of all executables but Victim::single; a last batch that is not full is filled with its last example
  std::uint64_t seed = 0;
  Norm norm = Norm::Linf;
  double radius = 0;         ///< of the ball around each example, in the input's own numbers
  double low = 0, high = 1;  ///< the box: what a valid input's numbers are between
  bool keepLabel = false;    ///< only points with the prediction of their example count; without one the example itself is kept
  bool keepInputs = false;   ///< the numbers of points stay in Series::inputs
  std::int64_t repeats = 0;  ///< > 0: latency of each example and each point is the median of so many runs at batch 1
  double energySeconds = 0;  ///< > 0: energy of each example and each point is that of runs at batch 1 that last so long together
  /// So many batches are searched at once, each on a thread and in an arena of its own; what is found does not depend on it.
  std::int64_t sideBySide = 1;
};

/// The network as its training left it, at inference, with its gates.
struct Victim {
  const tbem_backend* backend = nullptr;        ///< of all executables
  const train::Snapshot* weights = nullptr;     ///< its own
  const runtime::Executable* batch = nullptr;   ///< Plan::batch examples, outputs kept
  const runtime::Executable* single = nullptr;  ///< one example, where latency or energy is wanted
  std::string input;                            ///< the path of its one input, f32, in both
  std::optional<std::size_t> classAxis;         ///< of its first output; nothing: it predicts no class
  std::vector<double> branchFlops;              ///< what an example costs in each of Executable::branches; empty without gates
  double least = 0, most = 0;                   ///< FLOPs of an example, over all paths
};

/// How a network is trained that moves examples (a generator, or one perturbation for all).
struct Learning {
  const runtime::Executable* step = nullptr;  ///< forward, backward and update of Plan::batch examples of the training split
  /// A step, of the same examples and before each of those, of a network that learns to tell points; nullptr: there is none.
  const runtime::Executable* discriminator = nullptr;
  std::string seed;  ///< the path of their input
  std::int64_t epochs = 1;
  std::int64_t count = 0;  ///< the first so many examples of the training split
};

struct Method {
  std::string word;                            ///< "gradient"
  std::string text;                            ///< "gradient(steps: 30)": as the program writes it
  std::string identity;                        ///< of everything that decides what it finds
  const runtime::Executable* mover = nullptr;  ///< the next point is its first output
  std::string point;                           ///< the path of the input that holds the point; "": it does not look at it
  std::string seed;                            ///< of the example; "": the same
  std::string label;                           ///< of the example's prediction (i64), "": the same
  /// Paths of further inputs: before the first step they are zero, afterwards what the outputs behind the first one were, in
  /// order.
  std::vector<std::string> states;
  /// Runs of the mover for each batch. Their numbers go on from batch to batch (the first of batch b, from 0, is b * steps + 1),
  /// so that no two have the same random numbers, and none depend on which batches the store had.
  std::int64_t steps = 1;
  /// After how many steps the network is asked what the points cost, as also after the last; of the points that it was asked
  /// about, the first that costs most is kept; the example itself where all of them cost less. 0: after the last step alone,
  /// whose points are kept whatever they cost.
  std::int64_t look = 1;
  /// The step after such a question begins at the best point so far (of two that cost the same the later one, at first the
  /// example) and not at the last one.
  bool fromBest = false;
  std::optional<Learning> learning;  ///< it is trained before it moves anything
};

/// What a method made of one example.
struct Point {
  std::int64_t example = 0;
  std::int64_t label = -1;               ///< -1: the data have none
  std::int64_t before = -1, after = -1;  ///< predictions; -1: the network predicts no class
  double flopsBefore = 0, flops = 0;
  double linf = 0, l2 = 0;                         ///< how far it moved
  std::vector<double> decisionsBefore, decisions;  ///< by gate, as Answer::decisions
  double latencyBefore = 0, latency = 0;           ///< seconds; 0: not wanted
  double energyBefore = 0, energy = 0;             ///< joules; 0: not wanted, or this machine does not count it
  double psnr = 0;                                 ///< in dB of the box's width; infinite where it did not move
  std::optional<double> ssim;                      ///< of images (Wang et al. 2004): [channels, height, width], 11 pixels or more
};

/// What one method did to all examples.
struct Series {
  std::string word, text;
  std::vector<std::string> gates;  ///< paths, in program order
  std::vector<Point> points;       ///< by example
  std::vector<float> inputs;       ///< with Plan::keepInputs, the numbers of these points, one after the other
  std::int64_t stored = 0;         ///< of these, how many the store had
  double learning = 0;             ///< seconds, 0 where nothing was learned or it was not needed
  double moving = 0;               ///< seconds of the search for the points that were not stored, on the clock
  std::int64_t sideBySide = 0;     ///< so many batches were searched at once; 0: none was searched
  std::string noEnergy;            ///< why some points have no energy, where it is wanted
};

/// All calls come from the thread that asked for the search. Any may be empty.
struct Observer {
  std::function<void(const Method& method)> begins;
  std::function<void(const Method& method, const Series& series)> ends;
  std::function<void(std::int64_t done, std::int64_t total, const std::string& what)> progress;
  std::function<bool()> stop;  ///< asked between steps: true ends the search; points that are done stay in the store
};

struct Outcome {
  std::vector<Series> series;
  bool interrupted = false;
};

struct Failure {
  enum class Kind : std::uint8_t { Environment, Run } kind = Kind::Environment;
  std::string message;
};

/// Where points are kept.
struct Keeping {
  std::string store;   ///< its path (made where there is none); "": nowhere
  bool fresh = false;  ///< what it has is not taken, and is replaced
};

/// The executables are linked: they run in one arena, and what is one storage has one path. Errors: Environment (data, memory,
/// the store), Run (a step failed, a loss is not finite, a point lies where none may).
tl::expected<Outcome, Failure> run(const Plan& plan, const data::Dataset& dataset, const Victim& victim,
                                   const std::vector<Method>& methods, const Keeping& keeping, const Observer& observer);

}  // namespace tbem::perturb
