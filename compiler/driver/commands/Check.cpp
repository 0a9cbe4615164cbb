// tbemc check: everything that can be known of a program without running it.
#include "compiler/driver/commands/Check.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/driver/Commands.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/PlainRows.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/lower/program/LoopTypes.h"
#include "compiler/show/Out.h"
#include "compiler/verify/CheckNetworks.h"
#include "compiler/verify/LevelProofs.h"
#include "compiler/verify/Specs.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

/// Applies the certain fixes to the file. The number of diagnostics mended, or nothing where the file cannot be written.
std::optional<std::size_t> applyFixesTo(show::Out& out, const State& state, const std::string& path) {
  std::size_t mended = 0;
  const Session& session = state.workspace->session;
  const std::string text = applyFixes(*state.workspace->file().source, session.sink.all(), &mended);
  if (mended == 0) return 0;
  if (const auto written = files::writeFile(path, text); !written) {
    out.failure(written.error().message);
    return std::nullopt;
  }
  return mended;
}

/// "2 designs, 32 rows", and "1 training" where there is one.
std::string whatWasChecked(const State& state) {
  const auto count = [](std::size_t number, const char* word) {
    return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
  };
  std::size_t rows = 0;
  for (const auto& run : state.designs.runs) {
    if (state.plain()) {
      rows += run->experiment != nullptr ? run->chosen.size() : 0;
      continue;
    }
    rows += static_cast<std::size_t>(
        std::count_if(state.rows.begin(), state.rows.end(), [&](const RowState& row) { return row.run == run.get(); }));
  }
  std::string text = fmt::format("{}, {}", count(state.designs.runs.size(), "design"), count(rows, "row"));
  if (!state.trainings.empty()) text += ", " + count(state.trainings.size(), "training");
  return text;
}

int checkOne(show::Out& out, const Options& options, const std::string& path) {
  Options one = options;
  one.files = {path};
  State state(one, out);
  const int status = checkProgram(out, state);
  if (options.fix && state.workspace != nullptr && !options.text) {
    const std::optional<std::size_t> mended = applyFixesTo(out, state, path);
    if (!mended) return kEnvironment;
    if (*mended != 0) {
      out.note(fmt::format("{}: {} mended", path, *mended));
      Options again = options;
      again.fix = false;
      return checkOne(out, again, path);
    }
  }
  if (status == kOk && !options.json && options.emitStage.empty()) {
    out.note(fmt::format("{}: {} checked", options.text ? "-e" : path, whatWasChecked(state)));
  }
  return status;
}

}  // namespace

namespace {
/// More rows than these are not kept once they were looked at.
constexpr std::size_t kMostKept = 10'000;

/// What a run would refuse of elements that nothing computes with yet: told once for each design, at its first row that has them.
void warnOfTypes(show::Out& out, State& state) {
  const std::string backend = state.options.dtype == "f64" ? "ref" : "cpu";
  const DesignRun* told = nullptr;
  for (RowState& row : state.rows) {
    const graph::Graph& graph = row.elaborated->graph();
    const auto computed = [](const graph::Tensor& tensor) { return estimate::hasLoops(tensor.dtype); };
    if (row.run == told || std::ranges::all_of(graph.tensors, computed)) continue;
    const Opened opened = openBackend(backend);
    if (opened.backend == nullptr) return;
    const auto lowered = lowerRow(*row.elaborated, row.run->spec, *opened.backend,
                                  lowerOptions(out, state.options, opened, nullptr, row.run->tuning));
    if (lowered) continue;
    told = row.run;
    const auto refused = reportsOf(state.sink(), [&] { lowered.error().report(state.sink()); });
    state.sink()
        .report(diag::cannot_run, refused.front().range, row.run->spec.name, refused.front().message)
        .note("`estimate --on pytorch` and `--on none` know what it takes");
  }
}

/// The conditions of every row, where the pipeline left the rows out.
bool checkPlainRows(State& state) {
  bool good = true;
  for (const auto& run : state.designs.runs) {
    if (run->experiment != nullptr) good = PlainRows(state, *run, estimate::conventions().front()).check() && good;
  }
  return good;
}
}  // namespace

int checkProgram(show::Out& out, State& state) {
  if (state.options.emitStage.empty() && state.options.printAfter.empty()) state.plainAbove = kMostKept;
  const Progressed done = runPipeline(out, state, "graph");
  if (!done.proceed) return done.status;
  if (state.plain() && !checkPlainRows(state)) return finish(out, state, kOk);
  readMeasures(*state.workspace, state.designs, state.options);
  const std::vector<RegressionPlan> regressions = readRegressions(*state.workspace, state.designs);
  readPredictions(*state.workspace, regressions, state.options);
  refuseLaterDeclarations(*state.workspace);
  warnOfTypes(out, state);
  checkNetworks(out, state);
  checkProcesses(out, *state.workspace, state.proofs);
  proveDesigns(state, kFewStructures);
  return finish(out, state, kOk);
}

int runCheck(show::Out& out, const Options& options) {
  if (options.text) return checkOne(out, options, "");
  int worst = kOk;
  for (const std::string& path : options.files) worst = std::max(worst, checkOne(out, options, path));
  return worst;
}

}  // namespace tbem::driver
