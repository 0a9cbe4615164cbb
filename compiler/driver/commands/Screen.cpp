// tbemc screen: which factors and operators move parameters, FLOPs, memory and least time. Nothing is run.
#include "compiler/driver/commands/Screen.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
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

/// Of a state that has passed `lower`. `noGrid`: why it has the designs' own rows.
Outcome showScreening(show::Out& out, State& state, const ScreenOptions& options, const std::string& noGrid) {
  noteUnknownWorkspaces(out, state.unknownWorkspaces());
  auto screening = screenDesigns(state, options.roofline);
  if (!screening) return {static_cast<int>(out.fail(screening.error())), true};
  Outcome outcome;
  for (std::vector<Screened>& findings : screening->designs) {
    for (Screened& found : findings) found.noGrid = noGrid;
    outcome.any = outcome.any || !findings.empty();
    if (!reportScreening(out, state, findings, options.view)) outcome.status = kEnvironment;
  }
  for (const std::string& message : screening->untimed) out.failure(message);
  if (!screening->leftOut.empty()) {
    out.failure(screening->leftOut);
    outcome.status = kEnvironment;
  }
  if (!screening->untimed.empty()) outcome.status = kProgramErrors;
  return outcome;
}

/// The stages behind `design`, for one design of a state that has passed it.
Progressed lowerDesign(show::Out& out, State& state, const PipelineView& view, std::unique_ptr<DesignRun> run) {
  forget(state, "graph");
  state.designs.runs.clear();
  state.designs.runs.push_back(std::move(run));
  return runPipeline(out, state, view, "lower");
}

/// One design: every combination of its levels where all can be built, else its own rows. What is wrong with them stays in the
/// sink.
Outcome screenOne(show::Out& out, State& state, const ScreenOptions& options, std::unique_ptr<DesignRun> every) {
  PipelineView view(options.stages);
  view.silent = true;
  Request own = options;
  own.rows.design = every->spec.name;
  own.rows.grid.reset();
  std::string noGrid;
  Progressed done;
  const std::deque<Diagnostic> reports = reportsOf(state.sink(), [&] { done = lowerDesign(out, state, view, std::move(every)); });
  if (!done.proceed && done.status == kProgramErrors) {
    noGrid = renderBrief(*std::ranges::find(reports, Severity::Error, &Diagnostic::severity));
    Designs designs = makeDesigns(*state.workspace, own, state.events);
    if (designs.runs.empty()) {
      for (const std::string& problem : designs.usage) out.failure(problem);
      return {designs.usage.empty() ? kProgramErrors : kUsage, true};
    }
    done = lowerDesign(out, state, view, std::move(designs.runs.front()));
  } else {
    for (const Diagnostic& one : reports) state.sink().append(one);
  }
  return done.proceed ? showScreening(out, state, options, noGrid) : Outcome{done.status, true};
}

}  // namespace

int runScreen(show::Out& out, const ScreenOptions& given) {
  ScreenOptions options = given;
  options.rows.grid = options.grid;
  // Designs go through the stages behind `design` one by one.
  const auto early = [](const std::string& stage) { return passes(stage, "graph") ? std::string() : stage; };
  const StageRequest first{early(options.stages.emitStage), early(options.stages.printAfter), options.stages.time};
  State state(options, out);
  PipelineView firstView(first);
  firstView.silent = true;
  state.mostPlanned = kMostPlanned;
  if (const Progressed done = runPipeline(out, state, firstView, "design"); !done.proceed) {
    const bool told = state.workspace == nullptr || (done.status != kOk && done.status != kProgramErrors);
    return told ? done.status : finish(out, state, kOk);
  }
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
  for (Diagnostic& one : reports) state.sink().append(std::move(one));
  if (!all.any && all.status == kOk && !state.sink().hasErrors()) {
    out.failure("nothing to screen: give a design with factors, of a network");
    all.status = kUsage;
  }
  return finish(out, state, all.status);
}

namespace {

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
                         Takes::Program, false, invocation<ScreenOptions, declare, unheeded, runScreen>};

}  // namespace tbem::driver
