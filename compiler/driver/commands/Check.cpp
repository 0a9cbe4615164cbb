// tbemc check: everything that can be known of a program without running it.
#include "compiler/driver/commands/Check.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/Out.h"
#include "compiler/verify/Checks.h"
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
  one.program.files = {path};
  State state(one, out);
  const int status = checkProgram(out, state, one);
  if (options.fix && state.workspace != nullptr && !options.program.text) {
    const std::optional<std::size_t> mended = applyFixesTo(out, state, path);
    if (!mended) return kEnvironment;
    if (*mended != 0) {
      out.note(fmt::format("{}: {} mended", path, *mended));
      Options again = options;
      again.fix = false;
      return checkOne(out, again, path);
    }
  }
  if (status == kOk && !options.display.json && options.stages.emitStage.empty()) {
    out.note(fmt::format("{}: {} checked", options.program.text ? "-e" : path, whatWasChecked(state)));
  }
  return status;
}

}  // namespace

int checkProgram(show::Out& out, State& state, const Options& options) {
  const bool showsStages = !options.stages.emitStage.empty() || !options.stages.printAfter.empty();
  if (!showsStages) leaveManyRows(state);
  state.tellsUnbuilt = !out.display.json;
  leaveManyRows(state);
  const Progressed done = runPipeline(out, state, options.stages, "graph");
  if (!done.proceed) return done.status;
  checkBeyondGraphs(state);
  return finish(out, state, kOk);
}

int runCheck(show::Out& out, const Options& options) {
  if (options.program.text) return checkOne(out, options, "");
  int worst = kOk;
  for (const std::string& path : options.program.files) worst = std::max(worst, checkOne(out, options, path));
  return worst;
}

}  // namespace tbem::driver
