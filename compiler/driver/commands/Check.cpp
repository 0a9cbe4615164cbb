// tbemc check: everything that can be known of a program without running it.
#include "compiler/diagnostics/Render.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/show/Out.h"
#include "compiler/verify/Checks.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

/// What `check` says of one program. The exit status.
int checkProgram(show::Out& out, PipelineState& state, const CommandOptions& options) {
  const bool showsStages = !options.stages.emitStage.empty() || !options.stages.printAfter.empty();
  if (!showsStages) leaveManyRows(state);
  state.tellsUnbuilt = !out.display.json;
  const Progressed done = runPipeline(out, state, options.stages, "graph");
  if (!done.proceed) return done.status;
  checkBeyondGraphs(state);
  return finish(out, state, kOk);
}

struct CheckOptions : CommandOptions {
  bool fix = false;
};

void declare(OptionList& list, CheckOptions& o) {
  addProgram(list, o, {.files = "programs; - is standard input", .text = kTextInPlace});
  addRows(list, o, {.on = kPlannedBackends, .planned = kPlanned});
  list.flag("--sarif", o.display.sarif, kSarif);
  list.flag("--fix", o.fix, "apply the certain fixes to the files").excludes("--sarif").excludes("-e");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const CheckOptions& options) {
  if (std::string why = unheededRows(given, options, {.notPlanned = notPlanned("check")}); !why.empty()) return why;
  return options.fix ? unwritable(options, "--fix") : std::string();
}

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

/// "2 designs, 32 rows", and "1 training", "1 perturbation" where there is one.
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
  if (!state.perturbations.empty()) text += ", " + count(state.perturbations.size(), "perturbation");
  return text;
}

int checkOne(show::Out& out, const CheckOptions& options, const std::string& path) {
  CheckOptions one = options;
  one.program.files = {path};
  PipelineState state(one, out);
  const int status = checkProgram(out, state, one);
  if (options.fix && state.workspace != nullptr && !options.program.text) {
    const std::optional<std::size_t> mended = applyFixesTo(out, state, path);
    if (!mended) return kEnvironment;
    if (*mended != 0) {
      out.note(fmt::format("{}: {} mended", path, *mended));
      CheckOptions again = options;
      again.fix = false;
      return checkOne(out, again, path);
    }
  }
  if (status == kOk && !options.display.json && options.stages.emitStage.empty()) {
    out.note(fmt::format("{}: {} checked", options.program.text ? "-e" : path, whatWasChecked(state)));
  }
  return status;
}

int run(show::Out& out, const CheckOptions& options) {
  if (options.program.text) return checkOne(out, options, "");
  int worst = kOk;
  for (const std::string& path : options.program.files) worst = std::max(worst, checkOne(out, options, path));
  return worst;
}

}  // namespace

const Command kCheck = {"check", "syntax, names, types, specifications of every row; nothing is run", Takes::Programs, false,
                        invocation<CheckOptions, declare, unheeded, run>};

}  // namespace tbem::driver
