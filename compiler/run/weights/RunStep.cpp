#include "compiler/run/weights/RunStep.h"

#include "compiler/count/GateFlops.h"
#include "compiler/run/weights/LoadWeights.h"
#include "compiler/support/Version.h"
#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

/// What the gates decided, and the FLOPs that were left to do.
tl::expected<void, std::string> readGates(const RowState& row, const runtime::Instance& run, StepOutcome& outcome) {
  const auto sizes = runtime::branchSizes(run);
  if (!sizes) return tl::unexpected(sizes.error().message);
  if (sizes->empty()) return {};
  auto decisions = runtime::decisions(run);
  if (!decisions) return tl::unexpected(decisions.error().message);
  outcome.decisions = std::move(*decisions);
  const auto flops = estimate::countFlops(row.elaborated->graph(), row.elaborated->values);
  if (!flops) return tl::unexpected(flops.error().what);
  outcome.flops = estimate::toString(estimate::executedFlops(*flops, *sizes));
  return {};
}

/// What was taken from the file, for the user.
void noteLoaded(Events& events, const std::string& file, const Loaded& loaded) {
  events.note(fmt::format("{} array{} taken from {}", loaded.taken, loaded.taken == 1 ? "" : "s", file));
  if (!loaded.prefix.empty()) events.note(fmt::format("its names are read without `{}`, which all of them have", loaded.prefix));
  if (!loaded.ignored.empty()) events.note(fmt::format("not used: {}", fmt::join(loaded.ignored, ", ")));
  if (!loaded.missing.empty())
    events.note(fmt::format("not in the file, so as initialised: {}", fmt::join(loaded.missing, ", ")));
}

/// Takes the instance's numbers from the file. Errors: in words.
tl::expected<void, std::string> load(State& state, const RowState& row, const data::ArrayFile& file, const StepRequest& request,
                                     runtime::Instance& instance) {
  const auto comparison = compareArrays(file, request.names, *row.elaborated);
  if (!comparison) return tl::unexpected(fmt::format("{}: {}", request.load, comparison.error()));
  const auto loaded = loadArrays(*comparison, request.partial, instance);
  if (!loaded) return tl::unexpected(fmt::format("{}: {}", request.load, loaded.error()));
  noteLoaded(state.events, request.load, *loaded);
  return {};
}

/// The steps, and what they left. Errors: in words.
tl::expected<void, std::string> runSteps(const RowState& row, const StepRequest& request, runtime::Instance& instance,
                                         StepOutcome& outcome) {
  const double start = measure::monotonicSeconds();
  for (unsigned step = 1; step <= request.steps; ++step) {
    if (const auto done = instance.run(step); !done) return tl::unexpected(done.error().message);
  }
  outcome.seconds = (measure::monotonicSeconds() - start) / request.steps;
  const auto arena = instance.measureArena();
  if (!arena) return tl::unexpected(arena.error().message);
  if (!arena->guardIntact || arena->stray != runtime::kAbsent)
    return tl::unexpected(std::string("the step wrote outside its plan: this is a bug of tbemc"));
  return readOutcome(row, instance, outcome);
}

/// Seconds of each step behind those that were run, ascending. Errors: in words.
tl::expected<std::vector<double>, std::string> repeatStep(const StepRequest& request, runtime::Instance& instance) {
  std::vector<double> seconds;
  for (unsigned i = 0; i < request.repeat.value_or(0); ++i) {
    const double begin = measure::monotonicSeconds();
    if (const auto done = instance.run(request.steps + 1 + i); !done) return tl::unexpected(done.error().message);
    seconds.push_back(measure::monotonicSeconds() - begin);
  }
  std::ranges::sort(seconds);
  return seconds;
}

}  // namespace

tl::expected<void, std::string> readOutcome(const RowState& row, const runtime::Instance& instance, StepOutcome& outcome) {
  if (row.elaborated->graph().loss != graph::kNoTensor) {
    const auto loss = instance.read(row.compiled->executable.loss);
    if (!loss) return tl::unexpected(loss.error().message);
    outcome.loss = loss->doubles().front();
  }
  return readGates(row, instance, outcome);
}

tl::expected<std::optional<data::ArrayFile>, Failed> openStepFiles(const StepRequest& request) {
  if (request.load.empty() && (!request.names.empty() || request.partial))
    return failed(kUsage, "--names and --partial say how --load reads a file: give --load too");
  std::optional<data::ArrayFile> given;
  if (!request.load.empty()) {
    auto read = data::ArrayFile::open(request.load);
    if (!read) return failed(kEnvironment, std::move(read).error());
    given = std::move(*read);
  }
  if (request.save.empty()) return given;
  if (auto ready = canSaveArrays(request.save); !ready) return tl::unexpected(std::move(ready).error());
  return given;
}

tl::expected<StepOutcome, Failed> runStep(State& state, const RowState& row, const std::optional<data::ArrayFile>& given,
                                          const StepRequest& request) {
  const auto wrong = [](const std::string& message) { return failed(kRunFailed, message); };
  auto created = runtime::Instance::create(row.compiled->executable, *state.backend.backend, {.poison = true, .guard = 4096});
  if (!created) return wrong(created.error().message);
  runtime::Instance& instance = **created;
  if (const auto ready = instance.initialise(state.request.target.seed); !ready) return wrong(ready.error().message);
  if (given) {
    if (const auto loaded = load(state, row, *given, request, instance); !loaded) return wrong(loaded.error());
  }
  StepOutcome outcome;
  std::vector<data::Array> arrays;
  const auto take = [&](const std::string& name, const runtime::HostTensor& value) {
    if (const std::size_t count = countNotFinite(value); count != 0) outcome.notFinite.push_back({name, count, value.count()});
    if (!request.save.empty()) arrays.push_back(data::fromTensor(name, value));
  };
  if (given || !request.save.empty()) {
    if (const auto before = visitBefore(row, instance, take); !before) return wrong(before.error());
  }
  if (const auto done = runSteps(row, request, instance, outcome); !done) return wrong(done.error());
  if (const auto after = visitAfter(row, instance, state.keepResults, take); !after) return wrong(after.error());
  if (!request.save.empty()) {
    const data::Metadata metadata = {{"network", row.elaborated->graph().network}, {"tbemc", kVersion}};
    const auto written = data::writeArrayFile(request.save, std::move(arrays), metadata);
    if (!written) return failed(kEnvironment, written.error());
  }
  auto again = repeatStep(request, instance);
  if (!again) return wrong(again.error());
  outcome.again = std::move(*again);
  return outcome;
}

}  // namespace tbem::driver
