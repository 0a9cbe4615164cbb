#include "compiler/run/examples/RunExamples.h"

#include "compiler/jit/glue/Cache.h"
#include "compiler/run/Lowered.h"
#include "compiler/run/examples/Attacks.h"
#include "compiler/run/search/Searches.h"
#include "compiler/run/weights/WeightsHash.h"
#include "runtime/measure/LoadMeter.h"
#include "runtime/measure/Meters.h"
#include "runtime/train/Checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tbem::driver {

namespace {

/// The weights that a training has kept. Errors: why there are none.
tl::expected<train::Snapshot, std::string> keptWeights(const TrainingRun& training, const std::string& checkpoint) {
  const std::string& name = training.spec.decl->name.text;
  if (checkpoint.empty())
    return tl::unexpected(fmt::format("the weights of `{}` are kept nowhere: give the program a file", name));
  auto read = train::readCheckpoint(checkpoint);
  if (!read) return tl::unexpected(read.error());
  if (!*read) return tl::unexpected(fmt::format("`{}` has no weights yet (tbemc train)", name));
  return std::move((*read)->now);
}

/// Of the network's only input.
std::int64_t batchOf(const graph::Row& row) {
  const graph::Graph& graph = row.graph();
  return row.values[graph[graph.inputs.front()].shape.front()].num;
}

perturb::Victim victimOf(const TrainingRun& training, const graph::Row& row, std::int64_t batch) {
  const graph::Graph& graph = row.graph();
  perturb::Victim victim;
  victim.input = graph[graph[graph.inputs.front()].storage].path;
  const std::optional<std::size_t> axis = graph::classAxis(training.spec, row, training.shape);
  // One class for each example, or none that counts: a class for each pixel is no prediction of an example.
  const bool isOfExample = axis == 1 && !graph.outputs.empty() && graph[graph.outputs.front()].shape.size() == 2;
  if (isOfExample) victim.classAxis = axis;
  takeFlops(victim, row, batch);
  return victim;
}

/// `attacked`: nothing without a clause `attack`.
runtime::Measurement measurementOf(const perturb::Costs& costs, const std::optional<perturb::Summary>& attacked) {
  const perturb::CostSummary summary = perturb::summarise(costs);
  runtime::Measurement value;
  value.status = runtime::Status::Ok;
  value.meanFlops = summary.meanFlops;
  value.leastFlops = summary.leastFlops;
  value.mostFlops = summary.mostFlops;
  value.meanLatency = summary.meanSeconds;
  value.leastLatency = summary.leastSeconds;
  value.mostLatency = summary.mostSeconds;
  value.accuracy = summary.accuracy;
  value.coverage = summary.coverage;
  value.correlation = summary.correlation;
  value.meanEnergy = summary.meanJoules;
  value.leastEnergy = summary.leastJoules;
  value.mostEnergy = summary.mostJoules;
  value.energyCorrelation = summary.energyCorrelation;
  value.energyReason = costs.noEnergy;
  value.examples = perturb::textOf(costs);
  if (!attacked) return value;
  value.attackedFlops = attacked->flops;
  value.increaseMean = attacked->meanIncrease;
  value.headroom = attacked->headroom;
  value.raisedShare = static_cast<double>(attacked->raised) / static_cast<double>(attacked->examples);
  value.attackedAccuracy = attacked->accuracy;
  value.psnr = attacked->psnr;
  return value;
}

/// Hash of what the rows of a plan and a training have in common: weights, data, what is asked. Errors: why they cannot run.
tl::expected<std::string, std::string> hashOfExamples(const MeasuredExamples& examples, const TrainingRun& training,
                                                      const CheckpointOf& checkpointOf) {
  const auto weights = keptWeights(training, checkpointOf(training));
  if (!weights) return tl::unexpected(weights.error());
  const auto dataset = examples.reader->open(examples.settings);
  if (!dataset) return tl::unexpected(dataset.error());
  const perturb::Plan& plan = examples.plan;
  const std::string energy = plan.energySeconds > 0 ? fmt::format(";energy {}", plan.energySeconds) : "";
  return jit::hashKey(fmt::format("examples 1;{};{:016x};{};{};{}{}", hashOf(*weights), (*dataset)->fingerprint(),
                                  static_cast<int>(plan.split), plan.count, plan.repeats, energy));
}

}  // namespace

const TrainingRun& trainingOf(const CaseRow& row) { return row.plan->examples->trainingOf(row.plan->run->rows[row.row]); }

void checkExamples(Workspace& workspace, const Target& target, std::vector<MeasurePlan>& plans,
                   const std::vector<RowState>& rows) {
  DiagnosticSink& sink = workspace.session.sink;
  for (MeasurePlan& plan : plans) {
    if (!plan.examples) continue;
    std::set<const TrainingRun*> told;  // other rows would say the same of them
    for (const RowState& row : rows) {
      if (row.run != plan.run || !row.elaborated) continue;
      const TrainingRun& training = plan.examples->trainingOf(plan.run->rows[row.row]);
      if (told.contains(&training)) continue;
      const auto trained = std::ranges::find(rows, training.step.get(), &RowState::run);
      if (trained == rows.end() || !trained->elaborated) continue;  // which was told
      const bool fits = rowFits(sink, *plan.examples, *plan.run, row.row, *row.elaborated, *trained->elaborated);
      const bool isAttacked = fits && attackOn(*plan.examples, row.row) != nullptr;
      if (isAttacked && !elaborateAttack(workspace, target, *plan.examples, *plan.run, row.row, *row.elaborated)) break;
      if (!fits) told.insert(&training);
    }
  }
}

void identifyExamples(std::vector<CaseRow>& rows, const CheckpointOf& checkpointOf) {
  using Key = std::pair<const MeasurePlan*, const TrainingRun*>;
  std::map<Key, tl::expected<std::string, std::string>> known;
  for (CaseRow& row : rows) {
    if (!row.plan->examples || !row.skip.empty() || !row.examples.empty()) continue;
    const Key key{row.plan, &trainingOf(row)};
    auto entry = known.find(key);
    if (entry == known.end()) entry = known.emplace(key, hashOfExamples(*row.plan->examples, *key.second, checkpointOf)).first;
    if (!entry->second) {
      row.skip = entry->second.error();
      continue;
    }
    row.examples = *entry->second;
    row.identity = jit::hashKey(row.identity + row.examples);
  }
}

std::vector<const TrainingRun*> trainingsOf(const std::vector<CaseRow>& rows) {
  std::vector<const TrainingRun*> trainings;
  const auto add = [&](const TrainingRun* training) {
    if (std::ranges::find(trainings, training) == trainings.end()) trainings.push_back(training);
  };
  for (const CaseRow& row : rows) {
    if (!row.plan->examples) continue;
    std::vector<const TrainingRun*> chain;  // what it begins with first
    for (const TrainingRun* one = &trainingOf(row); one != nullptr; one = one->startsFrom) chain.insert(chain.begin(), one);
    std::ranges::for_each(chain, add);
  }
  return trainings;
}

tl::expected<std::optional<runtime::Measurement>, std::string> measureExamples(RowTable& table, const CaseRow& row,
                                                                               const CheckpointOf& checkpointOf,
                                                                               const ExampleProgress& progress) {
  const MeasuredExamples& examples = *row.plan->examples;
  const auto lowered = table.lowered({row.plan->run, row.row, row.backend, row.plan->tuning}, false);
  if (!lowered) return tl::unexpected(fmt::format("it cannot be lowered ({})", info(lowered.error().kind).code));
  const graph::Row& network = *(*lowered)->elaborated;
  const TrainingRun& training = trainingOf(row);
  const auto weights = keptWeights(training, checkpointOf(training));
  if (!weights) return tl::unexpected(weights.error());
  const auto dataset = examples.reader->open(examples.settings);
  if (!dataset) return tl::unexpected(dataset.error());
  const RowAttack* const attack = attackOn(examples, row.row);
  const auto code = compileBeside(table, **lowered, attack);
  if (!code) return tl::unexpected(code.error());
  perturb::Plan plan = examples.plan;
  plan.batch = batchOf(network);
  perturb::Victim victim = victimOf(training, network, plan.batch);
  victim.backend = table.backend(row.backend).backend;
  victim.weights = &*weights;
  victim.batch = &code->front().executable;
  const double started = measure::unixSeconds();
  measure::LoadMeter load;
  load.start();
  auto costs = perturb::costsOf(plan, **dataset, victim,
                                [&](std::int64_t done, std::int64_t total) { return progress("example", done, total); });
  if (!costs) return tl::unexpected(costs.error().message);
  if (!*costs) return std::optional<runtime::Measurement>();
  std::optional<perturb::Summary> attacked;
  if (attack != nullptr) {
    auto summary = runAttack(*attack, examples, **dataset, victim, *code, progress);
    if (!summary) return tl::unexpected(summary.error());
    if (!*summary) return std::optional<runtime::Measurement>();
    attacked = **summary;
  }
  runtime::Measurement value = measurementOf(**costs, attacked);
  value.load = load.read();
  value.started = started;
  value.finished = measure::unixSeconds();
  return std::optional(std::move(value));
}

}  // namespace tbem::driver
