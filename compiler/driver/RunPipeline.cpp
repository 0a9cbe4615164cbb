#include "compiler/driver/RunPipeline.h"

#include "compiler/diagnostics/Repeats.h"

#include <fmt/format.h>

namespace tbem::driver {

namespace {

/// Errors: a stage is named that does not exist, or that this command cannot ask for.
tl::expected<void, Failed> checkStages(const PipelineState& state, const PipelineView& view) {
  for (const std::string& wanted : {view.stages.emitStage, view.stages.printAfter}) {
    if (wanted.empty()) continue;
    if (std::string why = whyNotShown(state, wanted); !why.empty()) return failed(kUsage, std::move(why));
    if (runsSteps(wanted) && !view.mayRun)
      return failed(kUsage, fmt::format("the stage `{0}` runs steps, which this command does not (tbemc {0})", wanted));
  }
  return {};
}

}  // namespace

Progressed runPipeline(show::Out& out, PipelineState& state, const PipelineView& view, std::string_view last) {
  const StageRequest& stages = view.stages;
  const auto end = [&](const Failed& why) { return view.silent ? static_cast<int>(out.fail(why)) : finish(out, state, why); };
  if (const auto known = checkStages(state, view); !known) return {false, end(known.error())};
  state.keepIr = state.keepIr || stages.emitStage == "code" || stages.printAfter == "code";
  const auto after = [&](const Stage& stage) {
    if (stages.printAfter == stage.name || stages.emitStage == stage.name) out.plain(stage.dump(state));
  };
  const bool emits = !stages.emitStage.empty() && !state.done.contains(stages.emitStage);
  auto made = runStages(state, emits ? std::string_view(stages.emitStage) : last, after);
  // What is printed need not be on the way. Where the command goes on, it may be farther ahead.
  const bool ahead = view.ahead && (passes(stages.printAfter, "cases") || passes(stages.printAfter, "train"));
  if (made && !emits && !ahead && !stages.printAfter.empty()) made = runStages(state, stages.printAfter, after);
  if (!made) return {false, end(made.error())};
  if (emits) return {false, view.silent ? kOk : finish(out, state, kOk)};
  return {true, kOk};
}

int runAndPrint(show::Out& out, PipelineState& state, const StageRequest& stages, std::string_view last,
                const std::function<int()>& print) {
  PipelineView view(stages);
  view.silent = true;
  const Progressed done = runPipeline(out, state, view, last);
  const int verdict = stages.emitStage.empty() ? print() : kOk;
  return finish(out, state, done.proceed ? verdict : done.status);
}

const RowState* firstRow(show::Out& out, const State& state, std::string_view none) {
  if (state.rows.empty()) {
    out.failure(none);
    return nullptr;
  }
  const RowState& row = state.rows.front();
  if (state.designs.runs.size() > 1)
    out.note(fmt::format("`{}`, one of {} designs; pick another with --design", row.run->spec.name, state.designs.runs.size()));
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
