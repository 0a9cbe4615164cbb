#include "compiler/pipeline/Stages.h"

#include "compiler/experiment/trainings/Examples.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/run/Measured.h"
#include "compiler/run/RunPerturbations.h"
#include "compiler/run/search/Searches.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/show/Dump.h"
#include "compiler/verify/Checks.h"
#include "compiler/verify/KeptAnswers.h"
#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace tbem::driver {

namespace {

using Done = tl::expected<void, Failed>;

Done load(State& state) {
  auto loaded = loadWorkspace(state.request);
  if (!loaded) return tl::unexpected(std::move(loaded).error());
  state.workspace = std::move(*loaded);
  state.bugContext.emplace(programOf, &state.workspace->session);
  return {};
}

Done checkNames(State& state) {
  sema::checkNames(*state.workspace->program, state.sink());
  return {};
}

Done design(State& state) {
  state.designs = makeDesigns(*state.workspace, state.request, state.events);
  state.trainings = makeTrainings(*state.workspace, state.request.target);
  state.perturbations = makePerturbations(*state.workspace, state.trainings, state.request.target);
  if (!state.designs.usage.empty()) return tl::unexpected(Failed{kUsage, state.designs.usage});
  return {};
}

/// The rows of a design. False: no more are asked for.
bool elaborateRows(State& state, DesignRun& run) {
  if (run.experiment == nullptr) return true;
  std::size_t done = 0;
  if (!state.firstRowOnly) state.rows.reserve(state.rows.size() + run.chosen.size());
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

/// The rows of a design of a session. Where it is known what they have to say there are none in the state. Rows of a design
/// with `filter` were elaborated before, by an experiment that cannot be made again.
bool elaborateUnknown(State& state, DesignRun& run) {
  if (state.keptAnswers == nullptr || run.experiment == nullptr || run.spec.decl->filter) return elaborateRows(state, run);
  const auto before = static_cast<std::ptrdiff_t>(state.rows.size());
  const auto work = [&] {
    elaborateRows(state, run);
    return std::all_of(state.rows.begin() + before, state.rows.end(), hasLoopTypes);
  };
  const auto undo = [&] {
    state.rows.erase(state.rows.begin() + before, state.rows.end());
    run.experiment = makeExperiment(*state.workspace, run.spec, state.request.target);
  };
  state.keptAnswers->look({CheckedPart::Rows, run.spec.decl, rowsText(run)}, state.sink(), work, undo);
  return true;
}

/// Of operators whose FLOPs nobody knows, so that every total of FLOPs is too low: once, by name.
void noteOpaque(State& state) {
  std::set<std::string> names;
  std::set<const graph::Structure*> seen;
  for (const RowState& row : state.rows) {
    if (!seen.insert(row.elaborated->structure).second) continue;
    for (const graph::Op& op : row.elaborated->structure->graph.ops) {
      if (graph::isOpaque(op.own)) names.insert("`" + op.declaration + "`");
    }
  }
  if (names.empty()) return;
  state.events.note(fmt::format("{} {} opaque: FLOPs and least times are at least what is shown, and no step runs",
                                fmt::join(names, ", "), names.size() == 1 ? "is" : "are"));
}

/// The graphs of a perturbation: first its network, by whose FLOPs the methods weigh the gates.
void elaboratePerturbation(State& state, PerturbationRun& perturbation) {
  elaborateRows(state, *perturbation.victim);
  const RowState* victim = state.rowOf(perturbation.victim.get());
  if (victim == nullptr) return;
  std::vector<DesignRun*> searches;
  for (const MethodRun& method : perturbation.methods)
    searches.insert(searches.end(), {method.learner.get(), method.discriminator.get(), method.mover.get()});
  if (!weighGates(searches, *victim->elaborated, perturbation.plan.batch)) {
    reportNoGates(state.sink(), perturbation.spec.decl->target.range, *victim->elaborated, perturbation.plan.batch);
    return;
  }
  const auto& spec = perturbation.spec;
  if (!costsByExample(state.sink(), spec.decl->target.range, *victim->elaborated)) return;
  if (perturbation.single != nullptr) elaborateRows(state, *perturbation.single);
  if (perturbation.layer != nullptr) elaborateRows(state, *perturbation.layer);
  for (const MethodRun& method : perturbation.methods) {
    if (method.learner != nullptr) elaborateRows(state, *method.learner);
    if (method.discriminator != nullptr) elaborateRows(state, *method.discriminator);
    elaborateRows(state, *method.mover);
  }
}

/// What moves examples of a training. Where nothing evaluates the network, its gates weigh alike.
void elaborateMover(State& state, TrainingRun& training) {
  DesignRun* const mover = training.mover.get();
  if (!training.evaluation.empty()) {
    const auto& [batch, run] = *training.evaluation.begin();
    if (const RowState* row = state.rowOf(run.get())) weighGates({&mover, 1}, *row->elaborated, batch);
  }
  elaborateRows(state, *mover);
}

void elaborateTurns(State& state, TrainingRun& training) {
  for (std::size_t k = 0; k < training.turns.size(); ++k) {
    elaborateRows(state, *training.turns[k]);
    const RowState* turn = state.rowOf(training.turns[k].get());
    if (turn == nullptr) continue;
    graph::checkTarget(state.workspace->session, training.spec, *turn->elaborated, training.shape, &training.spec.turns[k]);
  }
}

void elaborateAll(State& state) {
  for (const auto& run : state.designs.runs) {
    if (!state.trainingsOnly && !state.plain() && !elaborateUnknown(state, *run)) return;
  }
  for (const auto& training : state.trainings) {
    const bool more = elaborateRows(state, *training->step);
    const RowState* step = state.rowOf(training->step.get());
    if (step == nullptr) continue;  // told; its evaluation would tell it again
    graph::checkTarget(state.workspace->session, training->spec, *step->elaborated, training->shape);
    if (!more) return;
    elaborateTurns(state, *training);
    for (const auto& [batch, run] : training->evaluation) elaborateRows(state, *run);
    if (training->mover != nullptr) elaborateMover(state, *training);
  }
  for (const auto& perturbation : state.perturbations) elaboratePerturbation(state, *perturbation);
}

Done elaborate(State& state) {
  elaborateAll(state);
  noteOpaque(state);
  return {};
}

Done lowerRows(State& state) {
  if (state.backend.backend == nullptr) {
    if (Done opened = openBackend(state); !opened) return opened;
  }
  for (const auto& perturbation : state.perturbations) spreadSearch(state, *perturbation);
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
    if (row.run->oneThread) options.threads = 1;
    if (state.keepResults) options.keepGradients = true;
    options.keepOutputs = state.keepResults || row.run->keepsOutputs;
    options.orderChanged = show;
    const RowState* owner = row.run->storagesOf == nullptr ? nullptr : state.rowOf(row.run->storagesOf);
    estimate::Places places;
    if (owner != nullptr && owner->program) places = estimate::placesOf(owner->elaborated->graph(), *owner->program);
    options.places = &places;
    Timing timing{state.events, ""};
    const auto lowered = lowerInto(row, state.backend, options, state.timing ? &timing : nullptr);
    if (!timing.failed.empty()) return failed(kRunFailed, timing.failed);
    if (!lowered) {
      lowered.error().report(state.sink());
      continue;
    }
    planned += row.program->steps.size();
    row.backend = state.backendName;
    row.tuning = row.run->tuning;
  }
  return {};
}

Done lower(State& state) {
  Done done = lowerRows(state);
  keepPlanAnswers(state);
  return done;
}

Done compile(State& state) {
  std::size_t done = 0;
  for (RowState& row : state.rows) {
    state.events.progress(done++, state.rows.size(), fmt::format("row {} of {}: its code", row.row + 1, row.run->spec.name));
    if (Done compiled = compileRow(state, row); !compiled) return compiled;
  }
  return {};
}

Done prove(PipelineState& state) {
  auto proved = prove(state, state.questions.proofs);
  if (!proved) return tl::unexpected(std::move(proved).error());
  state.proved = std::move(*proved);
  return {};
}

Done screen(PipelineState& state) {
  auto screening = screenDesigns(state, state.questions.screen);
  if (!screening) return tl::unexpected(std::move(screening).error());
  state.screening = std::move(*screening);
  return {};
}

Done fit(PipelineState& state) {
  state.fits = fitDesigns(state, *state.questions.fit);
  return state.fits.ended;
}

Done askWhatIf(PipelineState& state) {
  state.answered = askWhatIf(state, *state.questions.whatIf);
  return state.answered.ended;
}

/// Rows that are run over examples take weights of trainings, whose rows must be lowered.
Done measure(PipelineState& state) {
  if (runsOverExamples(state.measured) && state.done.insert("lower").second) {
    if (Done lowered = lower(state); !lowered || state.sink().hasErrors()) return lowered;
  }
  return measureCases(state);
}

bool asksFit(const Questions& questions) { return questions.fit != nullptr; }
bool asksWhatIf(const Questions& questions) { return questions.whatIf != nullptr; }

std::string dumpProved(const PipelineState& state) { return dumpProofs(*state.workspace, state.proved); }
std::string dumpScreened(const PipelineState& state) { return dumpScreening(state, state.screening); }
std::string dumpFit(const PipelineState& state) { return dumpFits(state.fits); }
std::string dumpAnswered(const PipelineState& state) { return dumpWhatIf(*state.questions.whatIf, state.answered); }

/// Of stages that know of no question.
template <Done (*Run)(State&)>
Done run(PipelineState& state) {
  return Run(state);
}
template <std::string (*Dump)(const State&)>
std::string dump(const PipelineState& state) {
  return Dump(state);
}

// clang-format off
constexpr Stage kStages[] = {
    {"load", "parse the program and what it imports", "", false, false, run<load>, dump<dumpSyntax>},
    {"names", "names, arguments, values that nobody uses", "load", false, false, run<checkNames>, dump<dumpNames>},
    {"design", "factors, levels, arrays", "names", false, false, run<design>, dump<dumpDesigns>},
    {"spec", "proofs of processes, of networks for all sizes, of designs for all levels", "design", false, true, prove, dumpProved},
    {"fit", "the largest level of a factor that fits a memory", "design", false, true, fit, dumpFit, asksFit},
    {"graph", "networks as graphs, with gradients and updates; conditions of every row", "design", false, false, run<elaborate>, dump<dumpGraphs>},
    {"what-if", "the GPUs that a step fits in PyTorch, and what changes would save", "graph", false, true, askWhatIf, dumpAnswered, asksWhatIf},
    {"lower", "layouts, fused loops, workspaces, the plan of memory", "graph", false, false, run<lower>, dump<dumpPrograms>},
    {"screen", "factors and operators that move the estimates", "lower", false, true, screen, dumpScreened},
    {"code", "native code", "lower", false, false, run<compile>, dump<dumpCode>},
    {"cases", "what is measured, each row on each backend", "graph", false, false, run<readCases>, dump<dumpCases>},
    {"measure", "the cases that are not finished, each in a fresh process or over its examples", "cases", true, false, measure, dump<dumpStored>},
    {"stored", "what the store has of the cases", "cases", false, false, run<readStored>, dump<dumpStored>},
    {"regress", "regressions of what was measured", "stored", false, true, run<fitStored>, dump<dumpRegressions>},
    {"predict", "predictions of the regressions", "regress", false, true, run<predictFitted>, dump<dumpPredictions>},
    {"train", "trainings, in order", "lower", true, false, run<trainAll>, dump<dumpTrained>},
    {"perturb", "inputs that make networks slow", "train", true, false, run<perturbAll>, dump<dumpPerturbed>},
};
// clang-format on

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

std::string whyNotShown(const PipelineState& state, std::string_view name) {
  const Stage* const stage = stageOf(name);
  if (stage == nullptr) return fmt::format("no stage is called `{}` ({})", name, stageNames());
  if (stage->asked == nullptr || stage->asked(state.questions)) return {};
  return fmt::format("the stage `{0}` has a question that this command does not ask (tbemc {0})", name);
}

bool checkAll(PipelineState& state) {
  leaveManyRows(state);
  if (!runStages(state, "graph")) return false;
  checkBeyondGraphs(state);
  return true;
}

void forget(PipelineState& state, std::string_view stage) {
  std::erase_if(state.done, [&](std::string_view done) { return passes(done, stage); });
  if (passes("graph", stage)) state.rows.clear();
  if (passes("cases", stage)) state.measured = {};
}

tl::expected<void, Failed> runStages(PipelineState& state, std::string_view last, const AfterStage& after) {
  for (const Stage* stage : wayTo(last)) {
    if (state.done.contains(stage->name)) continue;
    const auto errors = [&] { return state.workspace == nullptr ? 0 : state.sink().errorCount(); };
    const std::size_t before = errors();
    state.events.stageBegins(stage->name, stage->help);
    const double start = measure::monotonicSeconds();
    Done made = stage->run(state);
    state.events.rest();
    if (made) state.done.insert(stage->name);
    if (made && !stage->finds && errors() != before) made = failed(kProgramErrors);
    state.events.stageEnds(stage->name, measure::monotonicSeconds() - start);
    if (!made) return made;
    if (after) after(*stage);
  }
  return {};
}

LentProgram::LentProgram(PipelineState& from, PipelineState& to) : from(from), to(to) {
  to.workspace = std::move(from.workspace);
  to.done = {"load", "names"};
}

LentProgram::~LentProgram() { from.workspace = std::move(to.workspace); }

}  // namespace tbem::driver
