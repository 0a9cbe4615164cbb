#include "runtime/perturb/Costs.h"

#include "runtime/measure/Meters.h"
#include "runtime/perturb/Bounds.h"
#include "runtime/perturb/Examples.h"
#include "runtime/perturb/Network.h"
#include "runtime/perturb/Summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

/// All examples through the network, batch after batch.
class CostRun {
public:
  CostRun(const Plan& plan, const data::Dataset& dataset, const Victim& victim)
      : plan(plan), victim(victim), examples(plan, dataset) {
    if (plan.energySeconds > 0) costs.noEnergy = meter.emplace().reason();
  }

  Result<void> prepare() {
    auto loaded = LoneNetwork::create(victim);
    if (!loaded) return tl::unexpected(loaded.error());
    lone = std::move(*loaded);
    costs.gates = lone.network->gates();
    return {};
  }

  Result<std::optional<Costs>> run(const CostProgress& progress) {
    for (std::int64_t number = 0; number < examples.batches(); ++number) {
      // Told between runs too, some twenty times a second at most: what is told takes energy.
      double told = 0;
      const auto stops = [&] {
        constexpr double kApart = 0.05;
        const double now = measure::monotonicSeconds();
        if (now - told < kApart) return false;
        told = now;
        return progress && !progress(std::ssize(costs.examples), examples.total());
      };
      if (stops()) return std::optional<Costs>();
      const auto batch = examples.read(number);
      if (!batch) return tl::unexpected(batch.error());
      BatchTime time;
      if (auto done = ask(*batch, time); !done) return tl::unexpected(done.error());
      // What fills a batch up takes time, too, which is nobody's.
      if (batch->count != plan.batch) continue;
      const auto measured = measure(*batch, time, stops);
      if (!measured) return tl::unexpected(measured.error());
      if (!*measured) return std::optional<Costs>();
    }
    return std::optional(std::move(costs));
  }

private:
  Result<void> ask(const Batch& batch, BatchTime& time) {
    auto answers = lone.network->ask(batch.inputs);
    if (!answers) return tl::unexpected(answers.error());
    time.first = batch.examples.front();
    time.count = batch.count;
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.count); ++i) {
      Answer& answer = (*answers)[i];
      if (victim.classAxis && answer.prediction < 0)
        return failure(Kind::Run, fmt::format("the network's outputs for example {} are not numbers", batch.examples[i]));
      time.flops += answer.flops;
      costs.examples.push_back(
          {batch.examples[i], batch.labels[i], answer.prediction, answer.flops, std::move(answer.decisions)});
    }
    return {};
  }

  /// How long the batch takes, and how much energy. False: it was stopped.
  Result<bool> measure(const Batch& batch, BatchTime& time, const std::function<bool()>& stops) {
    if (plan.repeats > 0) {
      const auto seconds = lone.network->batchSeconds(batch.inputs, plan.repeats);
      if (!seconds) return tl::unexpected(seconds.error());
      time.seconds = *seconds;
    }
    if (meter && meter->available()) {
      const auto joules = lone.network->batchJoules(batch.inputs, plan.energySeconds, *meter, stops);
      if (!joules) return tl::unexpected(joules.error());
      if (!*joules) return false;
      time.joules = **joules;
    }
    if (time.seconds || time.joules) costs.times.push_back(time);
    return true;
  }

  const Plan& plan;
  const Victim& victim;
  const Examples examples;
  std::optional<measure::EnergyMeter> meter;  ///< where energy is wanted
  LoneNetwork lone;
  Costs costs;
};

/// Of a quantity that batches have, by their examples.
struct Spread {
  std::optional<double> mean, least, most;
  std::optional<double> correlation;  ///< with FLOPs, over batches
};
Spread spreadOf(const std::vector<BatchTime>& times, std::optional<double> BatchTime::*quantity) {
  Spread spread;
  std::vector<std::pair<double, double>> pairs;
  double sum = 0;
  for (const BatchTime& time : times) {
    const std::optional<double>& whole = time.*quantity;
    if (!whole) continue;
    const double ofExample = *whole / static_cast<double>(time.count);
    sum += ofExample;
    spread.least = std::min(spread.least.value_or(ofExample), ofExample);
    spread.most = std::max(spread.most.value_or(ofExample), ofExample);
    pairs.emplace_back(time.flops, *whole);
  }
  if (pairs.empty()) return spread;
  spread.mean = sum / static_cast<double>(pairs.size());
  spread.correlation = correlation(pairs);
  return spread;
}

}  // namespace

tl::expected<std::optional<Costs>, Failure> costsOf(const Plan& plan, const data::Dataset& dataset, const Victim& victim,
                                                    const CostProgress& progress) {
  CostRun run(plan, dataset, victim);
  if (auto done = run.prepare(); !done) return tl::unexpected(done.error());
  return run.run(progress);
}

CostSummary summarise(const Costs& costs) {
  CostSummary summary;
  if (costs.examples.empty()) return summary;
  Sides sides;
  double flops = 0;
  std::int64_t labelled = 0, right = 0;
  summary.leastFlops = summary.mostFlops = costs.examples.front().flops;
  for (const Cost& cost : costs.examples) {
    flops += cost.flops;
    summary.leastFlops = std::min(summary.leastFlops, cost.flops);
    summary.mostFlops = std::max(summary.mostFlops, cost.flops);
    addSides(cost.decisions, sides);
    if (cost.label < 0 || cost.prediction < 0) continue;
    ++labelled;
    right += cost.prediction == cost.label ? 1 : 0;
  }
  summary.meanFlops = flops / static_cast<double>(costs.examples.size());
  if (labelled > 0) summary.accuracy = static_cast<double>(right) / static_cast<double>(labelled);
  if (!costs.gates.empty()) summary.coverage = static_cast<double>(sides.size()) / static_cast<double>(2 * costs.gates.size());
  const Spread seconds = spreadOf(costs.times, &BatchTime::seconds), joules = spreadOf(costs.times, &BatchTime::joules);
  summary.meanSeconds = seconds.mean;
  summary.leastSeconds = seconds.least;
  summary.mostSeconds = seconds.most;
  summary.correlation = seconds.correlation;
  summary.meanJoules = joules.mean;
  summary.leastJoules = joules.least;
  summary.mostJoules = joules.most;
  summary.energyCorrelation = joules.correlation;
  return summary;
}

std::vector<std::optional<double>> sharesTrue(const Costs& costs) {
  std::vector<std::int64_t> decided(costs.gates.size(), 0);
  std::vector<double> yes(costs.gates.size(), 0);
  for (const Cost& cost : costs.examples) {
    for (std::size_t gate = 0; gate < std::min(cost.decisions.size(), decided.size()); ++gate) {
      if (cost.decisions[gate] < 0) continue;
      ++decided[gate];
      yes[gate] += cost.decisions[gate];
    }
  }
  std::vector<std::optional<double>> shares(decided.size());
  for (std::size_t gate = 0; gate < shares.size(); ++gate) {
    if (decided[gate] > 0) shares[gate] = yes[gate] / static_cast<double>(decided[gate]);
  }
  return shares;
}

}  // namespace tbem::perturb
