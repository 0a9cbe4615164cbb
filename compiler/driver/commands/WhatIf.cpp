// tbemc what-if: on which devices a row's step fits in eager PyTorch, and what changes of the step, the libraries or the
// allocator would save.
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/explore/FitSearch.h"
#include "compiler/pytorch/rows/PyTorchMemory.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/PyTorchReport.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

struct WhatIfOptions : CommandOptions {
  EagerRequest eager;
  EngineRequest engines;
  std::string reserve;
  std::string vary = "batch";
};

void declare(OptionList& list, WhatIfOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = "backend: pytorch (default, and the only one)", .planned = kPlanned});
  addVary(list, o.vary);
  addReserve(list, o.reserve, "");
  addPyTorch(list, o.eager, o.engines,
             {.eager = "",
              .cudnn = "",
              .device = "the GPU of the changes (default: h200): a100, rtx4090, .., or a record of the program"});
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const WhatIfOptions& options) {
  return unheededRows(given, options, {.notPlanned = notPlanned("what-if"), .ofPlan = {}, .card = true});
}

constexpr const char* kDefaultDevice = "h200";
/// Work (FitSearch.h) on each device.
constexpr std::size_t kDeviceWork = LevelSearch::kMostWork / 4;

/// A change of one thing, all else as it is.
struct Change {
  std::string name;
  EagerRequest eager;
  EngineRequest convolutions;
  estimate::EagerEngines engines = estimate::EagerEngines::Expected;
  std::optional<std::uint64_t> level;               ///< of the factor that varies
  std::optional<graph::ExperimentOptions> clauses;  ///< of the design
};

/// A row under other clauses.
struct Otherwise {
  std::unique_ptr<graph::Experiment> experiment;
  std::optional<graph::Row> row;
};

/// What a row takes of the device; bytes.
struct Taken {
  std::uint64_t allocated = 0, reserved = 0, device = 0;
  bool complete = false;  ///< nothing of the device is left out
};

class Asker {
public:
  Asker(show::Out& out, State& state, const WhatIfOptions& options, DesignRun& run, std::size_t row)
      : out(out), state(state), options(options), run(run), row(row) {
    factor = run.spec.find(options.vary);
    if (factor && (!run.spec.factors[*factor].numeric() || run.spec.factors[*factor].parent)) factor.reset();
    if (factor) varied.emplace(state, run, run.rows[row], *factor);
  }

  /// An exit status.
  int devices() {
    report::Table table;
    table.title =
        fmt::format("{} ({}) in eager PyTorch {}{}", run.spec.name, run.levelsText(row), torchVersion(options.eager), reserveText());
    table.columns = {{"device", report::Align::Left},
                     {"has", report::Align::Decimal},
                     {"takes", report::Align::Decimal},
                     {"headroom", report::Align::Decimal},
                     {"fits", report::Align::Left}};
    if (factor) table.columns.push_back({"largest " + options.vary, report::Align::Right});
    std::vector<std::string> names;
    const std::vector<estimate::Device> known = libraryDevices(names);
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!known[i].architecture) continue;
      out.progress(i, known.size(), names[i]);
      if (const int status = device(names[i], known[i], table); status != kOk) return status;
    }
    if (!options.display.json) out.table(table);
    for (const std::string& bound : bounds) out.say("largest {} {}\n", options.vary, bound);
    return kOk;
  }

  int changes() {
    const std::string name = options.engines.device.empty() ? kDefaultDevice : options.engines.device;
    report::Table table;
    table.title = fmt::format("{} ({}) on {}{}, if", run.spec.name, run.levelsText(row), name, reserveText());
    table.columns = {{"change", report::Align::Left},
                     {"allocated", report::Align::Decimal},
                     {"reserved", report::Align::Decimal},
                     {"takes", report::Align::Decimal},
                     {"difference", report::Align::Decimal}};
    std::optional<std::uint64_t> before;
    const std::vector<Change> list = changesOf(name);
    for (const Change& change : list) {
      out.progress(static_cast<std::size_t>(&change - list.data()), list.size(), "if " + change.name);
      Otherwise otherwise;
      auto steps = EagerSteps::open(state, options.target.backend, change.eager, change.convolutions);
      if (!steps) return out.fail(steps.error());
      const graph::Row* changed = change.level     ? varied->at(*change.level)
                                  : change.clauses ? rowUnder(*change.clauses, otherwise)
                                                   : rowOf();
      if (changed == nullptr) continue;
      const auto taken = takenBy(*changed, *steps, change.engines);
      if (const auto kept = steps->finish(out); !kept) return out.fail(kept.error());
      if (!taken) return kProgramErrors;
      if (!before) before = taken->device;
      const double difference = static_cast<double>(taken->device) - static_cast<double>(*before);
      if (options.display.json) {
        printLine("change", change.name, *taken, {{"difference", static_cast<std::int64_t>(difference)}});
      } else {
        table.add({change.name, report::bytes(taken->allocated), report::bytes(taken->reserved), takesText(*taken),
                   difference == 0 ? "" : report::signedBytes(difference)});
      }
    }
    if (!options.display.json) out.table(table);
    return kOk;
  }

  /// "context, handles, kernels": of some device they were not measured.
  bool incomplete = false;
  bool hasFactor() const { return factor.has_value(); }

private:
  int device(const std::string& name, const estimate::Device& device, report::Table& table) {
    EngineRequest engines = options.engines;
    engines.device = name;
    auto steps = EagerSteps::open(state, options.target.backend, options.eager, engines);
    if (!steps) return out.fail(steps.error());
    const auto taken = takenBy(*rowOf(), *steps, estimate::EagerEngines::Expected);
    if (!taken) return kProgramErrors;
    const bool fits = taken->device <= device.memory;
    const double headroom = static_cast<double>(device.memory) - static_cast<double>(taken->device);
    std::optional<Largest> largest;
    if (factor) largest = largestOn(*steps, limitOf(device, reserve).bytes, name);
    if (const auto kept = steps->finish(out); !kept) return out.fail(kept.error());
    if (options.display.json) {
      Json fields = {{"memory", device.memory}, {"headroom", static_cast<std::int64_t>(headroom)}, {"fits", fits}};
      fields["largest"] = largest ? Json(largest->level) : Json(nullptr);
      fields["bounded_by"] = largest && !largest->bound.empty() ? Json(largest->bound) : Json(nullptr);
      printLine("device", name, *taken, fields);
      return kOk;
    }
    std::vector<report::Cell> cells = {name, report::bytes(device.memory), takesText(*taken), report::signedBytes(headroom),
                                       report::Cell(fits ? "yes" : "no", fits ? report::Tone::Good : report::Tone::Bad)};
    if (factor) cells.emplace_back(largest ? std::to_string(largest->level) : "none");
    if (largest && !largest->bound.empty()) bounds.insert(fmt::format("{}, bounded by {}", largest->level, largest->bound));
    table.add(std::move(cells));
    return kOk;
  }

  struct Largest {
    std::uint64_t level = 0;
    std::string bound;  ///< why the next level cannot be built; "": memory ends it, or nothing does
  };
  std::optional<Largest> largestOn(EagerSteps& steps, std::uint64_t limit, const std::string& device) {
    std::size_t work = 0;
    LevelSearch search(
        [&](std::uint64_t level) -> LevelTrial {
          out.progress(work, kDeviceWork, fmt::format("{}: {} {}", device, options.vary, level));
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
      out.note(
          fmt::format("{}: the search for the largest {} on {} ended at its limit of work; what was not tried counts "
                      "as not fitting",
                      run.spec.name, options.vary, device));
    std::optional<Largest> largest;
    if (fit.largest) {
      largest = Largest{*fit.largest, ""};
      if (fit.bound) largest->bound = boundText(*fit.bound);
    }
    return largest;
  }

  /// Why the level cannot be built.
  std::string boundText(std::uint64_t level) {
    const auto why = varied->whyNot(level);
    return why ? renderBrief(*why) : "it cannot be estimated";
  }

  const graph::Row* rowOf() const {
    for (const RowState& one : state.rows) {
      if (one.run == &run && one.row == row) return &*one.elaborated;
    }
    return nullptr;
  }

  /// nullptr: these clauses do not suit the row.
  const graph::Row* rowUnder(const graph::ExperimentOptions& clauses, Otherwise& otherwise) {
    Workspace& workspace = *state.workspace;
    otherwise.experiment = std::make_unique<graph::Experiment>(workspace.session, *workspace.program, run.spec, clauses);
    reportsOf(state.sink(), [&] { otherwise.row = otherwise.experiment->row(run.rows[row]); });
    return otherwise.row ? &*otherwise.row : nullptr;
  }

  /// Nothing after saying why.
  std::optional<Taken> takenBy(const graph::Row& elaborated, EagerSteps& steps, estimate::EagerEngines engines) {
    const auto memory =
        steps.of(elaborated).and_then([&](const auto& step) { return steps.memoryOf(elaborated, step, engines); });
    if (!memory) {
      state.sink().report(diag::row_without_number, memory.error().range, memory.error().what);
      return std::nullopt;
    }
    Taken taken{memory->allocated, memory->reserved, memory->reserved + reserve, true};
    for (const estimate::BesideTensors& part : estimate::besideTensors(steps.workspaces()->onDevice())) {
      taken.device += part.bytes.value_or(0);
      taken.complete = taken.complete && (part.bytes.has_value() || reserve != 0);
    }
    incomplete = incomplete || !taken.complete;
    return taken;
  }

  std::vector<Change> changesOf(const std::string& device) const {
    Change none{"nothing", options.eager, options.engines, estimate::EagerEngines::Expected, std::nullopt};
    none.convolutions.device = device;
    std::vector<Change> list = {none};
    const auto add = [&](std::string name, const std::function<void(Change&)>& change) {
      list.push_back(none);
      list.back().name = std::move(name);
      change(list.back());
    };
    const std::string update = options.eager.update.empty() ? "foreach" : options.eager.update;
    for (const char* other : {"fused", "foreach", "loop"}) {
      if (isTrained() && update != other)
        add(fmt::format("the optimiser were {}", other), [&](Change& change) { change.eager.update = other; });
    }
    if (!run.spec.mixed && isSingle()) add("it were mixed bf16", [this](Change& change) { clausesOf(change).mixed = TBEM_BF16; });
    for (const std::int64_t times : {2, 4, 8}) {
      if (!isTrained()) break;
      const std::int64_t parts = times * rowOf()->graph().microBatches;
      add(fmt::format("accumulate {}", parts), [&](Change& change) { clausesOf(change).microBatches = parts; });
    }
    const std::string layout = options.engines.layout == "nchw" ? "nhwc" : "nchw";
    add(fmt::format("images lay in {}", layout), [&](Change& change) { change.convolutions.layout = layout; });
    add("each convolution took its smallest workspace", [](Change& change) { change.engines = estimate::EagerEngines::Least; });
    const std::string conf = options.eager.allocConf.empty() ? "" : options.eager.allocConf.front();
    if (conf.find("expandable_segments") == std::string::npos) {
      const std::string longer = conf + (conf.empty() ? "" : ",") + "expandable_segments:True";
      add("expandable_segments:True", [&](Change& change) { change.eager.allocConf = {longer}; });
    }
    if (const std::uint64_t level = levelNow(); level > 1)
      add(fmt::format("{} were {}", options.vary, level / 2), [&](Change& change) { change.level = level / 2; });
    return list;
  }

  graph::ExperimentOptions& clausesOf(Change& change) const { return change.clauses.emplace(experimentOptions(options.target)); }

  /// Its weights are f32.
  bool isSingle() const {
    const graph::Row* now = rowOf();
    return now != nullptr && !now->graph().weights.empty() && now->graph()[now->graph().weights.front().value].dtype == TBEM_F32;
  }
  bool isTrained() const { return rowOf() != nullptr && rowOf()->graph().training; }

  /// Of the factor that varies; 0: none.
  std::uint64_t levelNow() const {
    if (!factor) return 0;
    const auto& levels = run.spec.factors[*factor].levels;
    return std::strtoull(levels[run.rows[row][*factor]].text.c_str(), nullptr, 10);
  }

  std::string reserveText() const {
    return reserve == 0 ? "" : fmt::format(", {} of --reserve beside it", report::bytes(reserve));
  }
  static std::string takesText(const Taken& taken) {
    return fmt::format("{}{}", taken.complete ? "" : "at least ", report::bytes(taken.device));
  }

  void printLine(const char* question, const std::string& name, const Taken& taken, const Json& more) const {
    Json fields = {{"design", run.spec.name},
                   {"row", row},
                   {"levels", run.levels(row)},
                   {"question", question},
                   {"name", name},
                   {"allocated", taken.allocated},
                   {"reserved", taken.reserved},
                   {"takes", taken.device},
                   {"reserve", reserve},
                   {"complete", taken.complete}};
    fields.update(more);
    out.json("what-if", std::move(fields));
  }

  show::Out& out;
  State& state;
  const WhatIfOptions& options;
  DesignRun& run;
  std::size_t row;
  std::uint64_t reserve = reserveOf(options.reserve);
  std::optional<std::uint32_t> factor;
  std::optional<VariedRows> varied;
  std::set<std::string> bounds;  ///< of the largest levels
};

int askOf(show::Out& out, State& state, const WhatIfOptions& options) {
  bool any = false;
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr || state.rowOf(run.get()) == nullptr) continue;
    any = true;
    Asker asker(out, state, options, *run, state.rowOf(run.get())->row);
    for (const auto ask : {&Asker::devices, &Asker::changes}) {
      if (const int status = (asker.*ask)(); status != kOk) return status;
    }
    if (asker.incomplete) out.note("at least: what a process takes beside its tensors was not measured on these devices");
    if (!asker.hasFactor())
      out.note(fmt::format("{} has no factor of whole numbers called {}: --vary names one, for its largest level", run->spec.name,
                           options.vary));
  }
  if (any) return kOk;
  out.failure("the program has no design of a network: give --input image=batch,3,224,224 (and --task) for its network");
  return kUsage;
}

int run(show::Out& out, const WhatIfOptions& given) {
  WhatIfOptions options = given;
  options.program.varied = options.vary;
  if (options.target.backend.empty()) options.target.backend = "pytorch";
  if (options.target.backend != "pytorch") {
    out.failure(fmt::format("what-if is of eager PyTorch on GPUs, not of {}", options.target.backend));
    return kUsage;
  }
  if (const std::string why = wrongReserve(options.reserve, options.target.backend, true); !why.empty()) {
    out.failure(why);
    return kUsage;
  }
  State state(options, out);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "graph"); !done.proceed) return done.status;
  tellLeftOut(state);
  return finish(out, state, askOf(out, state, options));
}

}  // namespace

const Command kWhatIf = {"what-if", "the GPUs that a step fits in PyTorch, and what changes of it would save; nothing is run", Takes::Program, false,
    invocation<WhatIfOptions, declare, unheeded, run>};

}  // namespace tbem::driver
