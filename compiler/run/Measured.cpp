#include "compiler/run/Measured.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/run/RunTrainings.h"
#include "compiler/run/State.h"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

std::optional<Failed> nothingMeasured(const Measured& measured) {
  if (!measured.file->problem().empty()) return Failed{kEnvironment, {measured.file->problem()}};
  if (!measured.plans.empty()) return std::nullopt;
  return Failed{kUsage, {"there is nothing to measure: the program has no `measure`, and no design of a network"}};
}

Done readCases(State& state) {
  Measured& measured = state.measured;
  const Request& request = state.request;
  measured.plans = readMeasures(*state.workspace, state.designs, request);
  measured.regressions = readRegressions(*state.workspace, state.designs);
  measured.predictions = readPredictions(*state.workspace, measured.regressions, request.campaign.predictAt);
  refuseLaterDeclarations(*state.workspace);
  if (!measured.predictions.usage.empty()) return failed(kUsage, measured.predictions.usage);
  if (state.sink().hasErrors()) return {};  // the list ends here
  measured.table = std::make_unique<RowTable>(state.rows, request.target, state.events);
  measured.rows = caseRows(*measured.table, state.sink(), measured.plans, request.target, state.timing);
  measured.file.emplace(*state.workspace, request.campaign.store);
  return {};
}

Done measureCases(State& state) {
  Measured& measured = state.measured;
  if (auto nothing = nothingMeasured(measured)) return tl::unexpected(std::move(*nothing));
  auto outcome = runCampaigns(listenerOf(state), {measured.rows, *measured.file}, *measured.table, state.request);
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
  auto store = openStore(*measured.file);
  if (!store) return tl::unexpected(std::move(store).error());
  auto stored = StoredRows::read(*store, measured.rows);
  if (!stored) return tl::unexpected(std::move(stored).error());
  measured.stored = std::move(*stored);
  return {};
}

unsigned takeOtherThreads(State& state) {
  Measured& measured = state.measured;
  if (!measured.file->exists()) return 0;
  auto store = store::Store::open(measured.file->path(), store::Mode::ReadOnly);
  if (!store || anyStored(*store, measured.rows)) return 0;  // what is wrong with the store is told by who reads it
  for (const unsigned threads : threadsMeasured(*store, measured.rows)) {
    Target others = state.request.target;
    others.threads = threads;
    std::vector<CaseRow> tried;
    RowTable table(state.rows, others, state.events);
    const auto reports = reportsOf(state.sink(), [&] { tried = caseRows(table, state.sink(), measured.plans, others, false); });
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
  auto store = openStore(*measured.file);
  if (!store) return tl::unexpected(std::move(store).error());
  measured.fits = fitRegressions(*state.workspace, measured.regressions, measured.rows, *measured.stored, *store);
  return {};
}

Done predictFitted(State& state) {
  state.measured.predicted = predictAll(*state.workspace, state.measured.predictions.plans, state.measured.fits);
  return {};
}

Done trainAll(State& state) {
  const TrainingRequest& how = state.request.training;
  for (const auto& training : state.trainings) {
    auto outcome =
        runTraining(listenerOf(state), state, *training, {checkpointPath(*state.workspace, *training, how.folder), how.fresh});
    const bool interrupted = outcome && outcome->status == train::Outcome::Status::Interrupted;
    state.trained.push_back({training.get(), std::move(outcome)});
    if (interrupted) return {};
  }
  return {};
}

}  // namespace tbem::driver
