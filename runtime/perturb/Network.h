// The network under test at work: what it costs and says at points. Internal to this folder.
#pragma once

#include "runtime/core/Decisions.h"
#include "runtime/measure/Meters.h"
#include "runtime/perturb/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::perturb {

/// What the network did with one point.
struct Answer {
  double flops = 0;
  std::int64_t prediction = -1;  ///< -1: it predicts no class, or its outputs are no numbers
  /// By gate: of what it decided about in the point, the share for which its condition was true; -1 where nothing came to it. Of
  /// a gate that decides about examples, 0 or 1.
  std::vector<double> decisions;
};

/// What one example takes, and what became of it.
struct BeforeAfter {
  double before = 0, after = 0;
};

class Network {
public:
  /// All must outlive it. Errors: executables that do not fit the victim.
  static Result<std::unique_ptr<Network>> create(const Victim& victim, const train::Snapshot& weights, runtime::Arena& arena);

  /// Writes its weights: what shares them may have filled them by their initial rule.
  Result<void> giveWeights();
  /// The path of a weight that no longer is what was given; nothing: they are all as they were.
  Result<std::optional<std::string>> changedWeight() const;

  /// As many points as the batch has places. The same for the same points, whatever else they stand beside.
  Result<std::vector<Answer>> ask(std::span<const float> points);
  /// Seconds: medians of `repeats` runs at batch 1, the two in turn, so that a clock that drifts does so for both.
  Result<BeforeAfter> latency(std::span<const float> example, std::span<const float> point, std::int64_t repeats);
  /// Joules of a run at batch 1: of each of the two, runs that last for `seconds` together, in four parts that take turns.
  /// Nothing: `stops`, which is asked before each run, said so. Errors: the counters do not move, or can no longer be read.
  Result<std::optional<BeforeAfter>> energy(std::span<const float> example, std::span<const float> point, double seconds,
                                            measure::EnergyMeter& meter, const std::function<bool()>& stops);

  /// The median of `repeats` runs of the batch, in seconds.
  Result<double> batchSeconds(std::span<const float> points, std::int64_t repeats);
  /// Joules of a run of the batch, of runs that last for `seconds`. As `energy`.
  Result<std::optional<double>> batchJoules(std::span<const float> points, double seconds, measure::EnergyMeter& meter,
                                            const std::function<bool()>& stops);

  const std::vector<std::string>& gates() const { return gatePaths; }  ///< in program order
  const runtime::Instance& instance() const { return *batch; }         ///< of the batch

private:
  Network(const Victim& victim, const train::Snapshot& weights) : victim(victim), weights(weights) {}
  Result<void> prepare(runtime::Arena& arena);
  /// Of one run.
  Result<double> secondsOf(runtime::Instance& instance, std::span<const float> numbers);
  /// What runs took that lasted for so long. False: it was stopped.
  struct Used {
    double joules = 0, runs = 0;
  };
  Result<bool> addRuns(runtime::Instance& instance, std::span<const float> numbers, double seconds, measure::EnergyMeter& meter,
                       const std::function<bool()>& stops, Used& used);

  const Victim& victim;
  const train::Snapshot& weights;
  std::unique_ptr<runtime::Instance> batch, single;
  std::size_t places = 0;  ///< of the batch
  std::vector<std::string> gatePaths;
  /// Of the branches what leads into each: which gate, of `gatePaths`, and which decision.
  struct Entry {
    std::size_t gate = 0;
    std::int8_t decision = 0;
    std::size_t rows = 1;  ///< of each example, about which the gate decides one by one
  };
  /// The answer's decisions and FLOPs, of the example at this place.
  void addDecisions(const std::vector<runtime::Decision>& decisions, std::size_t place, Answer& answer) const;
  std::vector<std::optional<Entry>> entries;
};

/// A network for batches in an arena of its own.
struct LoneNetwork {
  std::unique_ptr<runtime::Arena> arena;
  std::unique_ptr<Network> network;

  /// Of a victim without `single`, which must outlive it. Errors: memory, an executable that does not fit the victim.
  static Result<LoneNetwork> create(const Victim& victim);
};

}  // namespace tbem::perturb
