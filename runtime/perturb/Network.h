// The network under test at work: what it costs and says at points. Internal to this folder.
#pragma once

#include "runtime/perturb/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::perturb {

/// What the network did with one point.
struct Answer {
  double flops = 0;
  std::int64_t prediction = -1;        ///< -1: it predicts no class, or its outputs are no numbers
  std::vector<std::int8_t> decisions;  ///< by gate
};

/// Seconds of one example and of what became of it.
struct Latency {
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
  /// Medians of `repeats` runs at batch 1, the two in turn, so that a clock that drifts does so for both.
  Result<Latency> latency(std::span<const float> example, std::span<const float> point, std::int64_t repeats);

  /// The median of `repeats` runs of the batch, in seconds.
  Result<double> batchSeconds(std::span<const float> points, std::int64_t repeats);

  const std::vector<std::string>& gates() const { return gatePaths; }  ///< in program order
  /// FLOPs of an example that its gates decided so about: of the branches that it was in.
  double flopsOf(std::span<const std::int8_t> decisions) const;
  const runtime::Instance& instance() const { return *batch; }  ///< of the batch

private:
  Network(const Victim& victim, const train::Snapshot& weights) : victim(victim), weights(weights) {}
  Result<void> prepare(runtime::Arena& arena);
  /// Of one run.
  Result<double> secondsOf(runtime::Instance& instance, std::span<const float> numbers);

  const Victim& victim;
  const train::Snapshot& weights;
  std::unique_ptr<runtime::Instance> batch, single;
  std::size_t places = 0;  ///< of the batch
  std::vector<std::string> gatePaths;
  /// By branch but the first: the gate that decides about it, of `gatePaths`, and which decision leads into it.
  struct Entry {
    std::size_t gate = 0;
    std::int8_t decision = 0;
  };
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
