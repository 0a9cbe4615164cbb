#include "compiler/driver/Pipeline.h"

#include "compiler/backends/Algorithms.h"
#include "compiler/diagnostics/Repeats.h"
#include "compiler/run/Measured.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/show/Dump.h"
#include "compiler/show/Out.h"
#include "compiler/support/Bug.h"
#include "compiler/verify/CleanParts.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

using Done = tl::expected<void, Failed>;

Done load(State& state) {
  auto loaded = loadWorkspace(state.request);
  if (!loaded) return tl::unexpected(std::move(loaded).error());
  state.workspace = std::move(*loaded);
  setReproducerHook(writeReproducer, &state.workspace->session);
  state.hooked = true;
  return {};
}

Done checkNames(State& state) {
  sema::checkNames(*state.workspace->program, state.sink());
  return {};
}

Done design(State& state) {
  state.designs = makeDesigns(*state.workspace, state.request, state.events);
  state.trainings = makeTrainings(*state.workspace, state.request.target);
  if (!state.designs.usage.empty()) return tl::unexpected(Failed{kUsage, state.designs.usage});
  return {};
}

/// The rows of a design. False: no more are asked for.
bool elaborateRows(State& state, DesignRun& run) {
  if (run.experiment == nullptr) return true;
  std::size_t done = 0;
  for (const std::size_t row : run.chosen) {
    state.events.progress(done++, run.chosen.size(), fmt::format("row {} of {}: its graph", row + 1, run.spec.name));
    RowState one;
    one.run = &run;
    one.row = row;
    one.elaborated = elaborateRow(run, row);
    if (one.elaborated) state.rows.push_back(std::move(one));
    if (state.firstRowOnly) return false;
  }
  return true;
}

/// The rows of a design of a session, where they may be known to be clean: then there are none in the state. Rows of a design
/// with `filter` were elaborated before, by an experiment that cannot be made again.
bool elaborateUnknown(State& state, DesignRun& run) {
  if (state.clean == nullptr || run.experiment == nullptr || run.spec.decl->filter) return elaborateRows(state, run);
  const auto before = static_cast<std::ptrdiff_t>(state.rows.size());
  const auto work = [&] {
    elaborateRows(state, run);
    return std::all_of(state.rows.begin() + before, state.rows.end(), hasLoopTypes);
  };
  const auto undo = [&] {
    state.rows.erase(state.rows.begin() + before, state.rows.end());
    run.experiment = makeExperiment(*state.workspace, run.spec, state.request.target);
  };
  state.clean->look({CleanPart::Rows, run.spec.decl, rowsText(run)}, state.sink(), work, undo);
  return true;
}

Done elaborate(State& state) {
  for (const auto& run : state.designs.runs) {
    if (!state.trainingsOnly && !state.plain() && !elaborateUnknown(state, *run)) return {};
  }
  for (const auto& training : state.trainings) {
    const bool more = elaborateRows(state, *training->step);
    const RowState* step = state.rowOf(training->step.get());
    if (step == nullptr) continue;  // told; its evaluation would tell it again
    graph::checkTarget(state.workspace->session, training->spec, *step->elaborated, training->shape);
    if (!more) return {};
    for (const auto& [batch, run] : training->evaluation) elaborateRows(state, *run);
  }
  return {};
}

Done lower(State& state) {
  if (state.backend.backend == nullptr) {
    if (Done opened = openBackend(state); !opened) return opened;
  }
  std::size_t done = 0, planned = 0;
  for (RowState& row : state.rows) {
    if (state.mostPlanned && planned > *state.mostPlanned) return {};  // the command says so
    const auto show = [&](std::size_t round) {
      const std::string order = round == 0 ? "" : fmt::format(", another order of its operators, change {}", round);
      state.events.progress(done, state.rows.size(),
                            fmt::format("row {} of {}: its plan{}", row.row + 1, row.run->spec.name, order));
    };
    show(0);
    ++done;
    noteRefusedChoices(state.events, row.run->tuning, state.backend);
    estimate::LowerOptions options =
        lowerOptions(state.events, state.request.target, state.backend, &state.queries, row.run->tuning);
    if (state.keepResults) options.keepGradients = true;
    options.keepOutputs = state.keepResults || row.run->keepsOutputs;
    options.orderChanged = show;
    const RowState* owner = row.run->storagesOf == nullptr ? nullptr : state.rowOf(row.run->storagesOf);
    estimate::Places places;
    if (owner != nullptr && owner->program) places = estimate::placesOf(owner->elaborated->graph(), *owner->program);
    options.places = &places;
    const auto lowered = [&] {
      return lowerRow(*row.elaborated, row.run->spec, *state.backend.backend, options, &row.recomputation);
    };
    auto program = lowered();
    if (program && state.timing) {
      const auto timed = tune(*program, state.backend, state.events);
      if (!timed) return failed(kRunFailed, timed.error());
      if (*timed) program = lowered();
    }
    if (program) {
      planned += program->steps.size();
      row.backend = state.backendName;
      row.tuning = row.run->tuning;
      row.program = std::move(*program);
    } else {
      program.error().report(state.sink());
    }
  }
  return {};
}

Done compile(State& state) {
  std::size_t done = 0;
  for (RowState& row : state.rows) {
    state.events.progress(done++, state.rows.size(), fmt::format("row {} of {}: its code", row.row + 1, row.run->spec.name));
    if (Done compiled = compileRow(state, row); !compiled) return compiled;
  }
  return {};
}

constexpr Stage kStages[] = {
    {"load", "parse the program and what it imports", "", false, load, dumpSyntax},
    {"names", "names, arguments, values that nobody uses", "load", false, checkNames, dumpNames},
    {"design", "factors, levels, arrays", "names", false, design, dumpDesigns},
    {"graph", "networks as graphs, with gradients and updates; conditions of every row", "design", false, elaborate, dumpGraphs},
    {"lower", "layouts, fused loops, workspaces, the plan of memory", "graph", false, lower, dumpPrograms},
    {"code", "native code", "lower", false, compile, dumpCode},
    {"cases", "what is measured, each row on each backend", "graph", false, readCases, dumpCases},
    {"measure", "the cases that are not finished, each in a fresh process", "cases", true, measureCases, dumpStored},
    {"stored", "what the store has of the cases", "cases", false, readStored, dumpStored},
    {"regress", "regressions of what was measured", "stored", false, fitStored, dumpFits},
    {"predict", "predictions of the regressions", "regress", false, predictFitted, dumpPredictions},
    {"train", "trainings, in order", "lower", true, trainAll, dumpTrained},
};

/// nullptr: no stage has this name.
const Stage* stageOf(std::string_view name) {
  const auto* found = std::ranges::find(kStages, name, [](const Stage& stage) { return std::string_view(stage.name); });
  return found == std::end(kStages) ? nullptr : found;
}

/// The stages on the way to this one, and it.
std::vector<const Stage*> wayTo(std::string_view last) {
  std::vector<const Stage*> way;
  for (const Stage* stage = stageOf(last); stage != nullptr; stage = stageOf(stage->after)) way.insert(way.begin(), stage);
  return way;
}

/// Errors: a stage is named that does not exist, or runs what the command does not.
Done checkStages(const PipelineView& view) {
  for (const std::string& wanted : {view.stages.emitStage, view.stages.printAfter}) {
    if (wanted.empty()) continue;
    if (stageOf(wanted) == nullptr) return failed(kUsage, fmt::format("no stage is called `{}` ({})", wanted, stageNames()));
    if (runsSteps(wanted) && !view.mayRun)
      return failed(kUsage, fmt::format("the stage `{0}` runs steps, which this command does not (tbemc {0})", wanted));
  }
  return {};
}

}  // namespace

std::string stageNames() {
  std::string text;
  for (const Stage& stage : kStages) text += fmt::format("{}{}", text.empty() ? "" : ", ", stage.name);
  return text;
}

bool runsSteps(std::string_view stage) {
  return std::ranges::any_of(wayTo(stage), [](const Stage* on) { return on->runs; });
}

bool passes(std::string_view stage, std::string_view other) {
  return std::ranges::any_of(wayTo(stage), [&](const Stage* on) { return on->name == other; });
}

void forget(State& state, std::string_view stage) {
  std::erase_if(state.done, [&](std::string_view done) { return passes(done, stage); });
  if (passes("graph", stage)) state.rows.clear();
  if (passes("cases", stage)) state.measured = {};
}

tl::expected<void, Failed> runStages(State& state, std::string_view last, const AfterStage& after) {
  for (const Stage* stage : wayTo(last)) {
    if (state.done.contains(stage->name)) continue;
    const double start = measure::monotonicSeconds();
    Done made = stage->run(state);
    state.events.rest();
    const bool errors = state.workspace != nullptr && state.sink().hasErrors();
    if (made) state.done.insert(stage->name);
    if (errors && made) made = failed(kProgramErrors);
    if (after) after(*stage, measure::monotonicSeconds() - start, made.has_value());
    if (!made) return made;
  }
  return {};
}

Progressed runPipeline(show::Out& out, State& state, const PipelineView& view, std::string_view last) {
  if (const Done known = checkStages(view); !known)
    return {false, view.goesOn ? static_cast<int>(out.fail(known.error())) : finish(out, state, known.error())};
  const StageRequest& stages = view.stages;
  state.keepIr = state.keepIr || stages.emitStage == "code" || stages.printAfter == "code";
  const auto after = [&](const Stage& stage, double seconds, bool good) {
    if (stages.time) out.error(fmt::format("{:<8} {}\n", stage.name, report::seconds(seconds)));
    if (good && (stages.printAfter == stage.name || stages.emitStage == stage.name)) out.plain(stage.dump(state));
  };
  const bool emits = !stages.emitStage.empty() && !state.done.contains(stages.emitStage);
  Done made = runStages(state, emits ? std::string_view(stages.emitStage) : last, after);
  // What is printed need not be on the way. Where the command goes on, it may be farther ahead.
  const bool ahead = view.goesOn && (passes(stages.printAfter, "cases") || passes(stages.printAfter, "train"));
  if (made && !emits && !ahead && !stages.printAfter.empty()) made = runStages(state, stages.printAfter, after);
  if (!made) {
    const bool untold = view.goesOn || (view.silent && state.workspace != nullptr && state.sink().hasErrors());
    return {false, untold ? static_cast<int>(out.fail(made.error())) : finish(out, state, made.error())};
  }
  if (emits) return {false, view.silent || view.goesOn ? kOk : finish(out, state, kOk)};
  return {true, kOk};
}

const RowState* firstRow(show::Out& out, const State& state, std::string_view none) {
  if (state.rows.empty()) {
    out.failure(none);
    return nullptr;
  }
  const RowState& row = state.rows.front();
  if (row.run->chosen.size() > 1) out.note(fmt::format("the first of {} rows; pick another with --at", row.run->chosen.size()));
  return &row;
}

int finish(show::Out& out, State& state, int status) {
  if (state.workspace == nullptr) return status;
  mergeRepeats(state.sink());
  const int printed = out.diagnostics(state.workspace->session);
  return status != kOk ? status : printed;
}

int finish(show::Out& out, State& state, const Failed& failure) { return finish(out, state, out.fail(failure)); }

}  // namespace tbem::driver
