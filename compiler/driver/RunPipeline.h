// The stages as commands run them: shown where options ask for it, with the diagnostics at the end.
#pragma once

#include "compiler/pipeline/Stages.h"
#include "compiler/show/Out.h"
#include "compiler/support/Failed.h"

#include <functional>
#include <string>
#include <string_view>

namespace tbem::driver {

/// Which stages are shown: `--emit STAGE`, `--print-after STAGE`.
struct StageRequest {
  std::string emitStage, printAfter;
};

/// What is shown of the stages.
struct PipelineView {
  PipelineView(const StageRequest& stages) : stages(stages) {}
  const StageRequest& stages;
  bool mayRun = false;  ///< stages that run steps may be asked for
  bool silent = false;  ///< the command prints the diagnostics at its end
  bool ahead = false;   ///< what --print-after names of the measured part is on the way of the command, which comes to it
};

/// What a command does next.
struct Progressed {
  bool proceed = false;  ///< go on; else return `status`, everything is printed
  int status = 0;
};
/// Runs the stages on the way to `last`, as runStages, and shows what --emit and --print-after name. Stops at the first
/// that fails, having printed the diagnostics, and after the stage that --emit names, having printed what it made. That stage,
/// and the one of --print-after, need not be on the way.
Progressed runPipeline(show::Out& out, PipelineState& state, const PipelineView& view, std::string_view last);
/// A command that ends with what its last stage made. `print` shows it, as much as there is, where --emit shows nothing; it
/// returns the exit status where all went well. The diagnostics are printed.
int runAndPrint(show::Out& out, PipelineState& state, const StageRequest& stages, std::string_view last,
                const std::function<int()>& print);

/// The row that a command of one row works on, with a note where there are more rows or designs. nullptr after saying `none`:
/// there is none.
const RowState* firstRow(show::Out& out, const State& state, std::string_view none);

/// Prints the diagnostics and picks the exit status of a command that came to its end with `status`.
int finish(show::Out& out, State& state, int status);
/// The same of a failure, whose messages are printed first.
int finish(show::Out& out, State& state, const Failed& failure);

}  // namespace tbem::driver
