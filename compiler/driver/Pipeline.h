// The way through the compiler, as a list of stages. Every command runs a piece of it.
#pragma once

#include "compiler/run/State.h"
#include "compiler/show/Out.h"
#include "compiler/support/Failed.h"

#include <functional>
#include <string>

namespace tbem::driver {

/// A stage: its name (for --emit, --print-after, --time), the one before it, what it does, and how its result is printed.
/// Mistakes of the program are in the session's sink.
struct Stage {
  const char* name;
  const char* help;
  const char* after;  ///< the stage whose result it needs; "": none
  bool runs;          ///< steps of networks
  tl::expected<void, Failed> (*run)(State& state);
  std::string (*dump)(const State& state);
};

/// What is done behind each stage that was run: how long it took, and whether the next may follow.
using AfterStage = std::function<void(const Stage& stage, double seconds, bool good)>;
/// Runs the stages on the way to `last`, and it, but for those that the state has done. Stops at the first that fails or leaves
/// errors in the session's sink (kProgramErrors, no message). Prints nothing.
tl::expected<void, Failed> runStages(State& state, std::string_view last, const AfterStage& after = {});

/// The stages by name: "load, names, design, ..".
std::string stageNames();
/// Whether steps of networks run on the way to this stage.
bool runsSteps(std::string_view stage);
/// Whether `other` is on the way to this stage, or it; false too for a name that no stage has.
bool passes(std::string_view stage, std::string_view other);
/// What this stage and those behind it made is dropped: they are run again when they are asked for.
void forget(State& state, std::string_view stage);

/// Which stages are shown: `--emit STAGE`, `--print-after STAGE`, `--time`.
struct StageRequest {
  std::string emitStage, printAfter;
  bool time = false;
};

/// What is shown of the stages.
struct PipelineView {
  PipelineView(const StageRequest& stages) : stages(stages) {}
  const StageRequest& stages;
  bool silent = false;  ///< diagnostics stay in the sink, untold
  bool mayRun = false;  ///< stages that run steps may be asked for
  /// The command goes on: what --print-after names may be on its way, and it prints the diagnostics at its end.
  bool goesOn = false;
};

/// What a command does next.
struct Progressed {
  bool proceed = false;  ///< go on; else return `status`, everything is printed
  int status = 0;
};
/// Runs the stages on the way to `last`, as runStages, and shows what --emit, --print-after and --time name. Stops at the first
/// stage after which there are errors, having printed the diagnostics, and after the stage that --emit names, having printed what
/// it made. That stage, and the one of --print-after, need not be on the way.
Progressed runPipeline(show::Out& out, State& state, const PipelineView& view, std::string_view last);

/// The row that a command of one row works on, with a note where there are more. nullptr after saying `none`: there is none.
const RowState* firstRow(show::Out& out, const State& state, std::string_view none);

/// Prints the diagnostics and picks the exit status of a command that came to its end with `status`.
int finish(show::Out& out, State& state, int status);
/// The same of a failure, whose messages are printed first.
int finish(show::Out& out, State& state, const Failed& failure);

}  // namespace tbem::driver
