// What a network with gates does with the examples of a dataset as they are: what each costs, which way it takes, how long that
// is (Chen et al. 2022, tables 1 and 2).
#pragma once

#include "runtime/perturb/Perturb.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::perturb {

/// What the network did with one example.
struct Cost {
  std::int64_t example = 0;
  std::int64_t label = -1;       ///< -1: the data have none
  std::int64_t prediction = -1;  ///< -1: the network predicts no class
  double flops = 0;
  std::vector<double> decisions;  ///< by gate, as Answer::decisions
};

/// One run of the network on some examples at once.
struct BatchTime {
  std::int64_t first = 0, count = 0;  ///< examples
  double flops = 0;                   ///< of all of them
  std::optional<double> seconds;      ///< the median of Plan::repeats runs; nothing without repeats
  std::optional<double> joules;  ///< of a run, of those that last for Plan::energySeconds; nothing: not wanted, or not counted
};

struct Costs {
  std::vector<std::string> gates;  ///< paths, in program order
  std::vector<Cost> examples;
  std::vector<BatchTime> times;  ///< of whole batches; none where neither time nor energy is wanted
  std::string noEnergy;          ///< why nothing counts energy, where it is wanted; "": it is counted, or not wanted
};

/// `done`, of `total` examples; false ends it.
using CostProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Of the plan: which examples, the batch, the repeats and the seconds of energy; of the victim its `batch`. Nothing: it was
/// ended. Errors: Environment (data, memory), Run (a step failed, outputs are no numbers).
tl::expected<std::optional<Costs>, Failure> costsOf(const Plan& plan, const data::Dataset& dataset, const Victim& victim,
                                                    const CostProgress& progress);

/// Costs in numbers.
struct CostSummary {
  double meanFlops = 0, leastFlops = 0, mostFlops = 0;           ///< of an example
  std::optional<double> meanSeconds, leastSeconds, mostSeconds;  ///< of an example: of a batch, by its examples
  std::optional<double> accuracy;                                ///< where examples have labels and the network predicts classes
  std::optional<double> coverage;                                ///< of the gates' sides, those that some example took
  std::optional<double> correlation;  ///< of FLOPs and seconds over batches; nothing where one does not vary
  std::optional<double> meanJoules, leastJoules, mostJoules;  ///< as the seconds
  std::optional<double> energyCorrelation;                    ///< of FLOPs and joules
};
CostSummary summarise(const Costs& costs);

/// By gate, the share of examples that it decided about whose condition was true; nothing where it decided about none.
std::vector<std::optional<double>> sharesTrue(const Costs& costs);

/// JSON of all of it, for the store; doubles come back bit for bit.
std::string textOf(const Costs& costs);
/// Errors: what is wrong with the text.
tl::expected<Costs, std::string> costsOfText(const std::string& text);

}  // namespace tbem::perturb
