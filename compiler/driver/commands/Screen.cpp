// tbemc screen: which factors and operators move parameters, FLOPs, memory and least time. Nothing is run.
#include "compiler/driver/commands/Screen.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/run/OwnLibraries.h"
#include "compiler/show/Out.h"
#include "compiler/show/rows/ScreenReport.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace tbem::driver {

namespace {

/// Operators of plans, about as many as take half a minute: rows beyond are not planned.
constexpr std::size_t kMostPlanned = 200'000;

/// What screening came to.
struct Outcome {
  int status = kOk;
  bool any = false;  ///< something was screened
};

/// The stages behind `design`, for one design of a state that has passed it.
Progressed screenDesign(show::Out& out, PipelineState& state, const PipelineView& view, std::unique_ptr<DesignRun> run) {
  forget(state, "graph");
  state.designs.runs.clear();
  state.designs.runs.push_back(std::move(run));
  const Progressed done = runPipeline(out, state, view, "lower");
  if (done.proceed) noteUnknownWorkspaces(out, state.unknownWorkspaces());
  return done.proceed ? runPipeline(out, state, view, "screen") : done;
}

/// One design: every combination of its levels where all can be built, else its own rows. What is wrong with them stays in the
/// sink.
Outcome screenOne(show::Out& out, PipelineState& state, const ScreenOptions& options, std::unique_ptr<DesignRun> every) {
  PipelineView view(options.stages);
  view.silent = true;
  Request own = state.request;
  own.rows.design = every->spec.name;
  own.rows.grid.reset();
  state.questions.screen = {options.roofline, ""};
  Progressed done;
  const std::deque<Diagnostic> reports =
      reportsOf(state.sink(), [&] { done = screenDesign(out, state, view, std::move(every)); });
  if (!done.proceed && done.status == kProgramErrors) {
    state.questions.screen.noGrid = renderBrief(*std::ranges::find(reports, Severity::Error, &Diagnostic::severity));
    Designs designs = makeDesigns(*state.workspace, own, state.events);
    if (designs.runs.empty()) {
      for (const std::string& problem : designs.usage) out.failure(problem);
      return {designs.usage.empty() ? kProgramErrors : kUsage, true};
    }
    done = screenDesign(out, state, view, std::move(designs.runs.front()));
  } else {
    for (const Diagnostic& report : reports) state.sink().append(report);
  }
  if (!done.proceed) return {done.status, true};
  const std::vector<std::vector<Screened>>& designs = state.screening.designs;
  const bool any = std::ranges::any_of(designs, [](const auto& findings) { return !findings.empty(); });
  return {printScreening(out, state, state.screening, options.view), any};
}

}  // namespace

int screenProgram(show::Out& out, PipelineState& state, const ScreenOptions& options) {
  // Designs go through the stages behind `design` one by one.
  const auto early = [](const std::string& stage) { return passes(stage, "graph") ? std::string() : stage; };
  const StageRequest first{early(options.stages.emitStage), early(options.stages.printAfter)};
  PipelineView view(first);
  view.silent = true;
  state.mostPlanned = kMostPlanned;
  if (const Progressed done = runPipeline(out, state, view, "design"); !done.proceed) return done.status;
  state.trainings.clear();
  Outcome all;
  std::deque<Diagnostic> reports;
  for (std::unique_ptr<DesignRun>& run : std::exchange(state.designs.runs, {})) {
    Outcome outcome;
    std::ranges::move(reportsOf(state.sink(), [&] { outcome = screenOne(out, state, options, std::move(run)); }),
                      std::back_inserter(reports));
    all.any = all.any || outcome.any;
    if (all.status == kOk) all.status = outcome.status;
  }
  for (Diagnostic& report : reports) state.sink().append(std::move(report));
  if (all.any || all.status != kOk || state.sink().hasErrors()) return all.status;
  out.failure("nothing to screen: give a design with factors, of a network");
  return kUsage;
}

namespace {

int run(show::Out& out, const ScreenOptions& given) {
  ScreenOptions options = given;
  options.rows.grid = options.grid;
  PipelineState state(options, out);
  return finish(out, state, screenProgram(out, state, options));
}

void declare(OptionList& list, ScreenOptions& o) {
  addProgram(list, o);
  addRows(list, o);
  list.add("--out", o.view.folder, "folder for plots (default: none)").type("DIR");
  addRoofline(list, o.roofline);
  list.add("--grid", o.grid, "take every combination of levels if there are so many at most, else the design's rows")
      .wholeNumber()
      .showDefault();
  list.add("--cutoff", o.view.cutoff, "share of the variation below which a factor is left out")
      .number(0, 1, "share from 0 to 1")
      .showDefault();
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const ScreenOptions& options) { return unheededRows(given, options, {}); }

}  // namespace

const Command kScreen = {"screen", "the factors and operators that move parameters, FLOPs and memory; nothing is run",
                         Takes::Program, false, invocation<ScreenOptions, declare, unheeded, run>};

}  // namespace tbem::driver
