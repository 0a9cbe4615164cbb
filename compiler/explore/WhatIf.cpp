#include "compiler/explore/WhatIf.h"

#include "compiler/devices/Devices.h"
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/explore/FitSearch.h"
#include "compiler/pytorch/rows/EagerSteps.h"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

namespace tbem::driver {

namespace {

constexpr const char* kDefaultDevice = "h200";
/// Work (FitSearch.h) on each device.
constexpr std::size_t kDeviceWork = LevelSearch::kMostWork / 4;

bool isTrained(const RowState& row) { return row.elaborated->graph().training; }

/// The questions of one row.
class WhatIf {
public:
  WhatIf(State& state, RowState& row, const WhatIfRequest& request);

  Answers<DeviceAnswer> devices();
  Answers<ChangeAnswer> changes();

  bool hasFactor() const { return factor.has_value(); }

private:
  struct Change;
  struct Otherwise;

  tl::expected<DeviceAnswer, Failed> on(const std::string& name, const estimate::Device& device);
  /// Nothing: the change does not suit the row.
  tl::expected<std::optional<TakenMemory>, Failed> with(const Change& change);
  std::optional<DeviceAnswer::Largest> largestOn(EagerSteps& steps, std::uint64_t limit, const std::string& device);
  std::string boundText(std::uint64_t level);
  const graph::Row* rowUnder(const graph::ExperimentOptions& clauses, Otherwise& otherwise);
  tl::expected<TakenMemory, Failed> takenBy(const graph::Row& elaborated, EagerSteps& steps, estimate::EagerEngines engines);
  std::vector<Change> changesOf() const;
  graph::ExperimentOptions& clausesOf(Change& change) const;
  bool isSingle() const;
  std::uint64_t levelNow() const;

  State& state;
  RowState& asked;
  DesignRun& run;
  const WhatIfRequest& wanted;
  std::uint64_t reserve;
  std::optional<std::uint32_t> factor;
  std::optional<VariedRows> varied;
};

/// A change of one thing, all else as it is.
struct WhatIf::Change {
  std::string name;
  EagerRequest eager;
  EngineRequest convolutions;
  estimate::EagerEngines engines = estimate::EagerEngines::Expected;
  std::optional<std::uint64_t> level;               ///< of the factor that varies
  std::optional<graph::ExperimentOptions> clauses;  ///< of the design
};

/// A row under other clauses.
struct WhatIf::Otherwise {
  std::unique_ptr<graph::Experiment> experiment;
  std::optional<graph::Row> row;
};

WhatIf::WhatIf(State& state, RowState& row, const WhatIfRequest& request)
    : state(state), asked(row), run(*row.run), wanted(request), reserve(reserveOf(request.reserve)) {
  factor = run.spec.find(wanted.vary);
  if (factor && (!run.spec.factors[*factor].numeric() || run.spec.factors[*factor].parent)) factor.reset();
  if (factor) varied.emplace(state, run, run.rows[asked.row], *factor);
}

Answers<DeviceAnswer> WhatIf::devices() {
  Answers<DeviceAnswer> answers;
  std::vector<std::string> names;
  const std::vector<estimate::Device> known = libraryDevices(names);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i].architecture) continue;
    state.events.progress(i, known.size(), names[i]);
    auto answer = on(names[i], known[i]);
    if (!answer) {
      answers.ended = tl::unexpected(std::move(answer).error());
      return answers;
    }
    answers.all.push_back(std::move(*answer));
  }
  return answers;
}

Answers<ChangeAnswer> WhatIf::changes() {
  Answers<ChangeAnswer> answers;
  const std::vector<Change> list = changesOf();
  for (std::size_t i = 0; i < list.size(); ++i) {
    state.events.progress(i, list.size(), "if " + list[i].name);
    const auto taken = with(list[i]);
    if (!taken) {
      answers.ended = tl::unexpected(taken.error());
      return answers;
    }
    if (!*taken) continue;
    const std::uint64_t before = answers.all.empty() ? (*taken)->device : answers.all.front().taken.device;
    answers.all.push_back(
        {list[i].name, **taken, static_cast<std::int64_t>((*taken)->device) - static_cast<std::int64_t>(before)});
  }
  return answers;
}

tl::expected<DeviceAnswer, Failed> WhatIf::on(const std::string& name, const estimate::Device& device) {
  EngineRequest engines = wanted.engines;
  engines.device = name;
  auto steps = EagerSteps::open(state, state.request.target.backend, wanted.eager, engines);
  if (!steps) return tl::unexpected(std::move(steps).error());
  const auto taken = takenBy(*asked.elaborated, *steps, estimate::EagerEngines::Expected);
  if (!taken) return tl::unexpected(taken.error());
  DeviceAnswer answer{name, device.memory, *taken, std::nullopt};
  if (factor) answer.largest = largestOn(*steps, limitOf(device, reserve).bytes, name);
  if (const auto kept = steps->finish(state.events); !kept) return tl::unexpected(kept.error());
  return answer;
}

tl::expected<std::optional<TakenMemory>, Failed> WhatIf::with(const Change& change) {
  Otherwise otherwise;
  auto steps = EagerSteps::open(state, state.request.target.backend, change.eager, change.convolutions);
  if (!steps) return tl::unexpected(std::move(steps).error());
  const graph::Row* changed = change.level     ? varied->at(*change.level)
                              : change.clauses ? rowUnder(*change.clauses, otherwise)
                                               : &*asked.elaborated;
  if (changed == nullptr) return std::nullopt;
  const auto taken = takenBy(*changed, *steps, change.engines);
  if (const auto kept = steps->finish(state.events); !kept) return tl::unexpected(kept.error());
  if (!taken) return tl::unexpected(taken.error());
  return *taken;
}

std::optional<DeviceAnswer::Largest> WhatIf::largestOn(EagerSteps& steps, std::uint64_t limit, const std::string& device) {
  std::size_t work = 0;
  LevelSearch search(
      [&](std::uint64_t level) -> LevelTrial {
        state.events.progress(work, kDeviceWork, fmt::format("{}: {} {}", device, wanted.vary, level));
        const graph::Row* row = varied->at(level);
        auto trial = row == nullptr ? tl::expected<LevelTrial, estimate::NoValue>(LevelTrial{})
                                    : tryPyTorch(*row, steps, {limit, false}, state.workspace->session.sources);
        if (!trial) trial = LevelTrial{};  // this level cannot be built
        work += trial->exists ? trial->events : LevelSearch::kAbsentWork;
        return *std::move(trial);
      },
      kDeviceWork);
  const Fit fit = search.search(LevelSearch::Below::Trusted, limit);
  if (fit.workEnded)
    state.events.note(
        fmt::format("{}: the search for the largest {} on {} ended at its limit of work; what was not tried counts "
                    "as not fitting",
                    run.spec.name, wanted.vary, device));
  if (!fit.largest) return std::nullopt;
  return DeviceAnswer::Largest{*fit.largest, fit.bound ? boundText(*fit.bound) : ""};
}

/// Why the level cannot be built.
std::string WhatIf::boundText(std::uint64_t level) {
  const auto why = varied->whyNot(level);
  return why ? renderBrief(*why) : "it cannot be estimated";
}

/// nullptr: these clauses do not suit the row.
const graph::Row* WhatIf::rowUnder(const graph::ExperimentOptions& clauses, Otherwise& otherwise) {
  Workspace& workspace = *state.workspace;
  otherwise.experiment = std::make_unique<graph::Experiment>(workspace.session, *workspace.program, run.spec, clauses);
  reportsOf(state.sink(), [&] { otherwise.row = otherwise.experiment->row(run.rows[asked.row]); });
  return otherwise.row ? &*otherwise.row : nullptr;
}

tl::expected<TakenMemory, Failed> WhatIf::takenBy(const graph::Row& elaborated, EagerSteps& steps,
                                                  estimate::EagerEngines engines) {
  const auto memory = steps.of(elaborated).and_then([&](const auto& step) { return steps.memoryOf(elaborated, step, engines); });
  if (!memory) {
    state.sink().report(diag::row_without_number, memory.error().range, memory.error().what);
    return failed(kProgramErrors);
  }
  TakenMemory taken{memory->allocated, memory->reserved, memory->reserved + reserve, true};
  for (const estimate::BesideTensors& part : estimate::besideTensors(steps.workspaces()->onDevice())) {
    taken.device += part.bytes.value_or(0);
    taken.complete = taken.complete && (part.bytes.has_value() || reserve != 0);
  }
  return taken;
}

std::vector<WhatIf::Change> WhatIf::changesOf() const {
  Change none{"nothing", wanted.eager, wanted.engines, estimate::EagerEngines::Expected, std::nullopt};
  none.convolutions.device = changedOn(wanted);
  std::vector<Change> list = {none};
  const auto add = [&](std::string name, const std::function<void(Change&)>& change) {
    list.push_back(none);
    list.back().name = std::move(name);
    change(list.back());
  };
  const std::string update = wanted.eager.update.empty() ? "foreach" : wanted.eager.update;
  for (const char* other : {"fused", "foreach", "loop"}) {
    if (isTrained(asked) && update != other)
      add(fmt::format("the optimiser were {}", other), [&](Change& change) { change.eager.update = other; });
  }
  if (!run.spec.mixed && isSingle()) add("it were mixed bf16", [this](Change& change) { clausesOf(change).mixed = TBEM_BF16; });
  for (const std::int64_t times : {2, 4, 8}) {
    if (!isTrained(asked)) break;
    const std::int64_t parts = times * asked.elaborated->graph().microBatches;
    add(fmt::format("accumulate {}", parts), [&](Change& change) { clausesOf(change).microBatches = parts; });
  }
  const std::string layout = wanted.engines.layout == "nchw" ? "nhwc" : "nchw";
  add(fmt::format("images lay in {}", layout), [&](Change& change) { change.convolutions.layout = layout; });
  add("each convolution took its smallest workspace", [](Change& change) { change.engines = estimate::EagerEngines::Least; });
  const std::string conf = wanted.eager.allocConf.empty() ? "" : wanted.eager.allocConf.front();
  if (conf.find("expandable_segments") == std::string::npos) {
    const std::string longer = conf + (conf.empty() ? "" : ",") + "expandable_segments:True";
    add("expandable_segments:True", [&](Change& change) { change.eager.allocConf = {longer}; });
  }
  if (const std::uint64_t level = levelNow(); level > 1)
    add(fmt::format("{} were {}", wanted.vary, level / 2), [&](Change& change) { change.level = level / 2; });
  return list;
}

graph::ExperimentOptions& WhatIf::clausesOf(Change& change) const {
  return change.clauses.emplace(experimentOptions(state.request.target));
}

/// Its weights are f32.
bool WhatIf::isSingle() const {
  const graph::Graph& graph = asked.elaborated->graph();
  return !graph.weights.empty() && graph[graph.weights.front().value].dtype == TBEM_F32;
}

/// Of the factor that varies; 0: none.
std::uint64_t WhatIf::levelNow() const {
  if (!factor) return 0;
  const auto& levels = run.spec.factors[*factor].levels;
  return std::strtoull(levels[run.rows[asked.row][*factor]].text.c_str(), nullptr, 10);
}

RowAnswers answersOf(State& state, RowState& row, const WhatIfRequest& request) {
  WhatIf question(state, row, request);
  RowAnswers answers{&row, question.hasFactor(), question.devices(), {}};
  if (answers.devices.ended) answers.changes = question.changes();
  return answers;
}

}  // namespace

std::string changedOn(const WhatIfRequest& request) {
  return request.engines.device.empty() ? kDefaultDevice : request.engines.device;
}

WhatIfAnswers askWhatIf(State& state, const WhatIfRequest& request) {
  WhatIfAnswers answers;
  tellLeftOut(state);
  for (const auto& run : state.designs.runs) {
    RowState* const row = run->experiment == nullptr ? nullptr : state.rowOf(run.get());
    if (row == nullptr) continue;
    const RowAnswers& made = answers.rows.emplace_back(answersOf(state, *row, request));
    answers.ended = made.devices.ended ? made.changes.ended : made.devices.ended;
    if (!answers.ended) return answers;
  }
  if (answers.rows.empty()) answers.ended = failed(kUsage, kNoNetwork);
  return answers;
}

}  // namespace tbem::driver
