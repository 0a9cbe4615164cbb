#include "compiler/driver/Pipeline.h"

#include "compiler/diagnostics/Repeats.h"
#include "compiler/run/Algorithms.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/show/Dump.h"
#include "compiler/show/SearchProgress.h"
#include "compiler/support/Bug.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::driver {

namespace {

int load(State& state) {
  auto loaded = loadWorkspace(state.options);
  if (!loaded) return loaded.error();
  state.workspace = std::move(*loaded);
  setReproducerHook(writeReproducer, &state.workspace->session);
  return kOk;
}

int checkNames(State& state) {
  sema::checkNames(*state.workspace->program, state.sink());
  return kOk;
}

int design(State& state) {
  state.designs = makeDesigns(*state.workspace, state.options);
  state.trainings = makeTrainings(*state.workspace, state.options);
  return state.designs.usage ? kUsage : kOk;
}

/// The rows of a design. False: no more are asked for.
bool elaborateRows(State& state, DesignRun& run) {
  if (run.experiment == nullptr) return true;
  std::size_t done = 0;
  for (const std::size_t row : run.chosen) {
    showSearch(done++, run.chosen.size(), fmt::format("row {} of {}: its graph", row + 1, run.spec.name));
    RowState one;
    one.run = &run;
    one.row = row;
    one.elaborated = elaborateRow(run, row);
    if (one.elaborated) state.rows.push_back(std::move(one));
    if (state.firstRowOnly) return false;
  }
  return true;
}

int elaborate(State& state) {
  for (const auto& run : state.designs.runs) {
    if (!state.trainingsOnly && !state.plain() && !elaborateRows(state, *run)) return kOk;
  }
  for (const auto& training : state.trainings) {
    const bool more = elaborateRows(state, *training->step);
    const RowState* step = state.rowOf(training->step.get());
    if (step == nullptr) continue;  // told; its evaluation would tell it again
    graph::checkTarget(state.workspace->session, training->spec, *step->elaborated, training->shape);
    if (!more) return kOk;
    for (const auto& [batch, run] : training->evaluation) elaborateRows(state, *run);
  }
  return kOk;
}

int lower(State& state) {
  if (state.backend.backend == nullptr) {
    if (const int status = openBackend(state); status != kOk) return status;
  }
  std::size_t done = 0, planned = 0;
  for (RowState& row : state.rows) {
    if (state.mostPlanned && planned > *state.mostPlanned) return kOk;  // the command says so
    const auto show = [&](std::size_t round) {
      const std::string order = round == 0 ? "" : fmt::format(", another order of its operators, change {}", round);
      showSearch(done, state.rows.size(), fmt::format("row {} of {}: its plan{}", row.row + 1, row.run->spec.name, order));
    };
    show(0);
    ++done;
    noteRefusedChoices(state.options, row.run->tuning, state.backend);
    estimate::LowerOptions options = lowerOptions(state.options, state.backend, &state.queries, row.run->tuning);
    if (state.keepResults) options.keepGradients = true;
    options.keepOutputs = state.keepResults || row.run->keepsOutputs;
    options.orderChanged = show;
    const auto lowered = [&] {
      return lowerRow(*row.elaborated, row.run->spec, *state.backend.backend, options, &row.recomputation);
    };
    auto program = lowered();
    if (program && state.timing) {
      const auto timed = tune(*program, state.backend, state.options);
      if (!timed) {
        printFailure(timed.error());
        return kRunFailed;
      }
      if (*timed) program = lowered();
    }
    if (program) {
      planned += program->steps.size();
      row.program = std::move(*program);
    } else {
      program.error().report(state.sink());
    }
  }
  return kOk;
}

int compile(State& state) {
  std::size_t done = 0;
  for (RowState& row : state.rows) {
    showSearch(done++, state.rows.size(), fmt::format("row {} of {}: its code", row.row + 1, row.run->spec.name));
    if (const int status = compileRow(state, row); status != kOk) return status;
  }
  return kOk;
}

constexpr Stage kStages[] = {
    {"load", "parse the program and what it imports", load, dumpSyntax},
    {"names", "names, arguments, values that nobody uses", checkNames, dumpNames},
    {"design", "factors, levels, arrays", design, dumpDesigns},
    {"graph", "networks as graphs, with gradients and updates; conditions of every row", elaborate, dumpGraphs},
    {"lower", "layouts, fused loops, workspaces, the plan of memory", lower, dumpPrograms},
    {"code", "native code", compile, dumpCode},
};

std::string stageNames() {
  std::string text;
  for (const Stage& stage : kStages) text += fmt::format("{}{}", text.empty() ? "" : ", ", stage.name);
  return text;
}

/// kUsage after saying so, where a stage is named that does not exist.
int checkStageNames(const State& state) {
  for (const std::string& wanted : {state.options.emitStage, state.options.printAfter}) {
    if (wanted.empty()) continue;
    if (std::none_of(std::begin(kStages), std::end(kStages), [&](const Stage& s) { return wanted == s.name; })) {
      printFailure(fmt::format("no stage is called `{}` ({})", wanted, stageNames()));
      return kUsage;
    }
  }
  return kOk;
}

}  // namespace

int openBackend(State& state) {
  state.backendName = !state.options.backend.empty() ? state.options.backend : state.options.dtype == "f64" ? "ref" : "cpu";
  state.backend = openBackend(state.backendName);
  if (state.backend.backend == nullptr) {
    printFailure(fmt::format("backend {}: {}", state.backendName, state.backend.reason));
    return state.backend.known ? kEnvironment : kUsage;
  }
  return kOk;
}

int compileRow(State& state, RowState& row) {
  if (row.compiled) return kOk;
  jit::JitOptions options;
  options.keepIr = state.options.emitStage == "code" || state.options.printAfter == "code" || state.options.as == "llvm";
  options.marks = state.options.profile;
  auto compiled = compileRow(*row.elaborated, *row.program, options);
  if (!compiled) {
    printFailure(compiled.error());
    return kEnvironment;
  }
  row.compiled = std::move(*compiled);
  return kOk;
}

std::size_t State::chosenRows() const {
  std::size_t rows = 0;
  for (const auto& run : designs.runs) rows += run->experiment != nullptr ? run->chosen.size() : 0;
  return rows;
}

RowState* State::rowOf(const DesignRun* run) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const RowState& row) { return row.run == run; });
  return found == rows.end() ? nullptr : &*found;
}

std::uint32_t State::unknownWorkspaces() const {
  std::uint32_t most = 0;
  for (const RowState& row : rows) most = std::max(most, row.program ? row.program->unknownWorkspaces() : 0);
  return most;
}

State::~State() { setReproducerHook(nullptr, nullptr); }

Progressed runPipeline(State& state, std::string_view last, std::string_view done) {
  if (const int status = checkStageNames(state); status != kOk) return {false, status};
  const auto behind = [](std::string_view name) {
    return name.empty() ? std::begin(kStages) : std::ranges::find(kStages, name, &Stage::name) + 1;
  };
  // `--emit code` and `--print-after code` go further than the command itself would.
  const Stage* const end = std::max({behind(last), behind(state.options.emitStage), behind(state.options.printAfter)});
  for (const Stage* stage = behind(done); stage < end; ++stage) {
    const double start = measure::monotonicSeconds();
    const int status = stage->run(state);
    hideSearch();
    if (state.options.time) printErr("{:<8} {}\n", stage->name, report::seconds(measure::monotonicSeconds() - start));
    const bool errors = state.workspace != nullptr && state.sink().hasErrors();
    if (errors && state.silent) return {false, status != kOk ? status : kProgramErrors};
    if (status != kOk || errors) return {false, state.workspace == nullptr ? status : finish(state, status)};
    if (state.options.printAfter == stage->name) printOut("{}", stage->dump(state));
    if (state.options.emitStage == stage->name) {
      printOut("{}", stage->dump(state));
      return {false, state.silent ? kOk : finish(state, kOk)};
    }
  }
  return {true, kOk};
}

int finish(State& state, int status) {
  mergeRepeats(state.sink());
  const int printed = printDiagnostics(state.workspace->session, state.options);
  return status != kOk ? status : printed;
}

}  // namespace tbem::driver
