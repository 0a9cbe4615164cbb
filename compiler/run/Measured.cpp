#include "compiler/run/Measured.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/run/RunPerturbations.h"
#include "compiler/run/RunTrainings.h"
#include "compiler/run/State.h"
#include "compiler/run/examples/RunExamples.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tbem::driver {

namespace {

using Done = tl::expected<void, Failed>;

/// Who listens to campaigns and trainings of a state.
RunEvents& listenerOf(State& state) {
  static RunEvents nobody;  // has no state
  return state.listener != nullptr ? *state.listener : nobody;
}

tl::expected<store::Store, Failed> openStore(const StoreFile& file) {
  if (!file.exists())
    return failed(kEnvironment, fmt::format("{} is not there: nothing is measured yet (tbemc measure)", file.path()));
  auto store = store::Store::open(file.path(), store::Mode::ReadOnly);
  if (!store) return failed(kEnvironment, store.error().message);
  return std::move(*store);
}

bool anyStored(store::Store& store, const std::vector<CaseRow>& rows) {
  const auto stored = StoredRows::read(store, rows);
  return stored && std::ranges::any_of(rows, [&](const CaseRow& row) { return !stored->repeatsOf(row).empty(); });
}

/// Rows of files as cases that are measured already, so that what is made of measured rows is made of them, too.
void readElsewhere(Measured& measured, DiagnosticSink& sink) {
  std::set<std::pair<std::string, const DesignRun*>> known;
  for (const RegressionPlan& regression : measured.regressions) {
    if (regression.file.empty() || !known.insert({regression.file, regression.run}).second) continue;
    // A row has as many repeats as the file has of it: a plan for each number.
    std::map<std::pair<std::size_t, std::string>, unsigned> repeats;
    std::map<unsigned, const MeasurePlan*> plans;
    for (const auto& [row, value] : regression.elsewhere) {
      unsigned& most = repeats[{row, value.backend}];
      most = std::max(most, value.repeat + 1);
    }
    for (const auto& [place, most] : repeats) {
      if (plans.contains(most)) continue;
      auto plan = std::make_unique<MeasurePlan>();
      plan->file = regression.file;
      plan->run = regression.run;
      plan->repeats = most;
      plans.emplace(most, measured.filePlans.emplace_back(std::move(plan)).get());
    }
    std::set<std::pair<std::size_t, std::string>> asked;
    for (const auto& [row, value] : regression.elsewhere) {
      const std::string identity =
          fmt::format("{} for {} row {} on {}", regression.file, regression.decl->name.text, row + 1, value.backend);
      measured.elsewhereStored.add({{identity, regression.run->spec.name, static_cast<std::uint32_t>(row),
                                     regression.run->levels(row).dump(), value.backend, value.repeat},
                                    value.value});
      if (!asked.insert({row, value.backend}).second) continue;
      CaseRow one;
      one.plan = plans.at(repeats.at({row, value.backend}));
      one.row = row;
      one.backend = value.backend;
      one.identity = identity;
      if (auto counted = caseElsewhere(*measured.table, sink, std::move(one))) measured.elsewhere.push_back(std::move(*counted));
    }
  }
}

bool allOfFiles(const Measured& measured) {
  return !measured.regressions.empty() &&
         std::ranges::all_of(measured.regressions, [](const RegressionPlan& plan) { return !plan.file.empty(); });
}

/// A training, unless the one whose weights it begins with did not end in this run: what that had kept before is another one's.
tl::expected<train::Outcome, Failed> outcomeOf(State& state, const TrainingRun& training) {
  const TrainingRequest& how = state.request.training;
  const auto first = std::ranges::find(state.trained, training.startsFrom, &Trained::training);
  const bool hasStart = training.startsFrom == nullptr || (first != state.trained.end() && first->outcome.has_value());
  if (!hasStart)
    return failed(kEnvironment, fmt::format("train {}: `{}`, whose weights it begins with, did not end",
                                            training.spec.decl->name.text, training.startsFrom->spec.decl->name.text));
  return runTraining(listenerOf(state), state, training, {checkpointPath(*state.workspace, training, how.folder), how.fresh});
}

/// Runs a training that this run has not run yet. False: it was interrupted.
bool trainOnce(State& state, const TrainingRun& training) {
  if (std::ranges::find(state.trained, &training, &Trained::training) != state.trained.end()) return true;
  const Trained& trained = state.trained.emplace_back(Trained{&training, outcomeOf(state, training)});
  return !trained.outcome || trained.outcome->status != train::Outcome::Status::Interrupted;
}

/// In the folder that was asked for; where it is not there, as that may be the folder of plots alone, in the usual one.
CheckpointOf checkpointsIn(const State& state) {
  return [&state](const TrainingRun& training) {
    const std::string asked = checkpointPath(*state.workspace, training, state.request.training.folder);
    std::error_code none;
    if (std::filesystem::exists(asked, none)) return asked;
    const std::string usual = checkpointPath(*state.workspace, training, "");
    return std::filesystem::exists(usual, none) ? usual : asked;
  };
}

/// Rows whose training failed in this run: what it had kept before is another one's.
void skipUntrained(State& state) {
  for (CaseRow& row : state.measured.rows) {
    if (!row.plan->examples || !row.skip.empty()) continue;
    const TrainingRun& training = trainingOf(row);
    const auto trained = std::ranges::find(state.trained, &training, &Trained::training);
    if (trained != state.trained.end() && !trained->outcome)
      row.skip = fmt::format("the training `{}` failed", training.spec.decl->name.text);
  }
}

}  // namespace

bool runsOverExamples(const Measured& measured) {
  return std::ranges::any_of(measured.plans, [](const MeasurePlan& plan) { return plan.examples.has_value(); });
}

std::optional<Failed> nothingMeasured(const Measured& measured) {
  if (!measured.file->problem().empty()) return Failed{kEnvironment, {measured.file->problem()}};
  if (!measured.plans.empty() || allOfFiles(measured)) return std::nullopt;
  return Failed{kUsage, {"there is nothing to measure: the program has no `measure`, and no design of a network"}};
}

Done readCases(State& state) {
  Measured& measured = state.measured;
  const Request& request = state.request;
  measured.plans = readMeasures(*state.workspace, state.designs, state.trainings, request);
  measured.regressions = readRegressions(*state.workspace, state.designs);
  measured.predictions = readPredictions(*state.workspace, measured.regressions, request.campaign.predictAt);
  refuseLaterDeclarations(*state.workspace);
  if (!measured.predictions.usage.empty()) return failed(kUsage, measured.predictions.usage);
  checkExamples(*state.workspace, request.target, measured.plans, state.rows);
  if (state.sink().hasErrors()) return {};  // the list ends here
  measured.table = std::make_unique<RowTable>(state.rows, request.target, state.events);
  measured.foreign = std::make_unique<ForeignRows>(*state.workspace, request);
  measured.rows = caseRows({*measured.table, *measured.foreign, measured.plans, request.target}, state.sink(), state.timing);
  readElsewhere(measured, state.sink());
  measured.file.emplace(*state.workspace, request.campaign.store);
  return {};
}

Done trainMeasured(State& state) {
  for (const TrainingRun* training : trainingsOf(state.measured.rows)) {
    if (!trainOnce(state, *training)) return failed(kInterrupted);
  }
  return {};
}

Done measureCases(State& state) {
  Measured& measured = state.measured;
  if (auto nothing = nothingMeasured(measured)) return tl::unexpected(std::move(*nothing));
  if (auto trained = trainMeasured(state); !trained) return trained;
  skipUntrained(state);
  identifyExamples(measured.rows, checkpointsIn(state));
  auto outcome =
      runCampaigns(listenerOf(state), {*measured.table, *measured.foreign, measured.rows, *measured.file, checkpointsIn(state)},
                   state.request);
  if (!outcome) return tl::unexpected(std::move(outcome).error());
  measured.campaign = std::move(outcome->result);
  measured.stored = std::move(outcome->stored);
  measured.verdict = std::move(outcome->verdict);
  return {};
}

Done readStored(State& state) {
  Measured& measured = state.measured;
  if (measured.stored) return {};
  if (auto nothing = nothingMeasured(measured)) return tl::unexpected(std::move(*nothing));
  if (allOfFiles(measured) && !measured.file->exists()) {
    measured.stored.emplace();
    return {};
  }
  auto store = openStore(*measured.file);
  if (!store) return tl::unexpected(std::move(store).error());
  identifyExamples(measured.rows, checkpointsIn(state));
  auto stored = StoredRows::read(*store, measured.rows);
  if (!stored) return tl::unexpected(std::move(stored).error());
  measured.stored = std::move(*stored);
  return {};
}

unsigned takeOtherThreads(State& state) {
  Measured& measured = state.measured;
  if (!measured.file->exists()) return 0;
  identifyExamples(measured.rows, checkpointsIn(state));
  auto store = store::Store::open(measured.file->path(), store::Mode::ReadOnly);
  if (!store || anyStored(*store, measured.rows)) return 0;  // what is wrong with the store is told by who reads it
  for (const unsigned threads : threadsMeasured(*store, measured.rows)) {
    Target others = state.request.target;
    others.threads = threads;
    std::vector<CaseRow> tried;
    RowTable table(state.rows, others, state.events);
    const CaseInput input{table, *measured.foreign, measured.plans, others};
    const auto reports = reportsOf(state.sink(), [&] { tried = caseRows(input, state.sink(), false); });
    identifyExamples(tried, checkpointsIn(state));
    const bool failed = std::ranges::any_of(reports, [](const Diagnostic& each) { return each.severity == Severity::Error; });
    if (failed || !anyStored(*store, tried)) continue;
    measured.rows = std::move(tried);
    return threads;
  }
  return 0;
}

Done fitStored(State& state) {
  Measured& measured = state.measured;
  if (measured.regressions.empty()) return {};
  std::optional<store::Store> store;
  if (!allOfFiles(measured)) {
    auto opened = openStore(*measured.file);
    if (!opened) return tl::unexpected(std::move(opened).error());
    store = std::move(*opened);
  }
  measured.fits =
      fitRegressions(*state.workspace, measured.regressions,
                     {measured.rows, *measured.stored, store ? &*store : nullptr, measured.elsewhere, measured.elsewhereStored});
  measured.comparisons = compareFits(measured.regressions, measured.fits);
  return {};
}

Done predictFitted(State& state) {
  state.measured.predicted = predictAll(*state.workspace, state.measured.predictions.plans, state.measured.fits);
  return {};
}

Done trainAll(State& state) {
  for (const auto& training : state.trainings) {
    if (!trainOnce(state, *training)) return {};
  }
  return {};
}

Done readPerturbed(State& state) {
  const StoreFile file(*state.workspace, state.request.campaign.store);
  if (!file.exists()) return {};
  for (const auto& run : state.perturbations) {
    const std::string checkpoint = checkpointPath(*state.workspace, *run->training, state.request.training.folder);
    std::error_code none;
    if (!std::filesystem::exists(checkpoint, none)) continue;  // nothing can have been found without its weights
    state.perturbed.push_back(storedPerturbation(state, *run, {checkpoint, file.path()}));
  }
  return {};
}

Done perturbAll(State& state) {
  const CampaignRequest& how = state.request.campaign;
  const StoreFile file(*state.workspace, how.store);
  for (const auto& run : state.perturbations) {
    const auto trained = std::ranges::find_if(state.trained, [&](const Trained& one) { return one.training == run->training; });
    const bool ended =
        trained != state.trained.end() && trained->outcome && trained->outcome->status != train::Outcome::Status::Interrupted;
    if (!ended) continue;  // the training said why
    const std::string checkpoint = checkpointPath(*state.workspace, *run->training, state.request.training.folder);
    state.perturbed.push_back(runPerturbation(listenerOf(state), state, *run, {checkpoint, file.path(), how.fresh}));
    const auto& outcome = state.perturbed.back().outcome;
    if (outcome && outcome->interrupted) return {};
  }
  return {};
}

}  // namespace tbem::driver
