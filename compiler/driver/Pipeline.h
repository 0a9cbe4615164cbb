// The way through the compiler, as a list of stages. Every command runs a piece of it.
#pragma once

#include "compiler/run/State.h"
#include "compiler/show/Out.h"
#include "compiler/support/Failed.h"

#include <functional>
#include <string>

namespace tbem::driver {

/// A stage: its name (for --emit, --print-after, --time), what it does, and how its result is printed. Mistakes of the program
/// are in the session's sink.
struct Stage {
  const char* name;
  const char* help;
  tl::expected<void, Failed> (*run)(State& state);
  std::string (*dump)(const State& state);
};

/// What is done behind each stage that was run: how long it took, and whether the next may follow.
using AfterStage = std::function<void(const Stage& stage, double seconds, bool good)>;
/// Runs the stages behind `done` (empty: all) up to `last`. Stops at the first that fails or leaves errors in the session's sink
/// (kProgramErrors, no message). Prints nothing.
tl::expected<void, Failed> runStages(State& state, std::string_view last, std::string_view done = {},
                                     const AfterStage& after = {});

/// The stages by name: "load, names, design, ..".
std::string stageNames();

/// Which stages are shown: `--emit STAGE`, `--print-after STAGE`, `--time`.
struct StageRequest {
  std::string emitStage, printAfter;
  bool time = false;
};

/// What is shown of the stages.
struct PipelineView {
  PipelineView(const StageRequest& stages, bool silent = false) : stages(stages), silent(silent) {}
  const StageRequest& stages;
  bool silent = false;  ///< diagnostics stay in the sink, untold
};

/// What a command does next.
struct Progressed {
  bool proceed = false;  ///< go on; else return `status`, everything is printed
  int status = 0;
};
/// Runs the stages behind `done` (empty: all) up to `last`. Stops at the first stage after which there are errors, having printed
/// the diagnostics, and after the stage that --emit names, having printed what it made.
Progressed runPipeline(show::Out& out, State& state, const PipelineView& view, std::string_view last, std::string_view done = {});

/// Prints the diagnostics and picks the exit status of a command that came to its end with `status`.
int finish(show::Out& out, State& state, int status);
/// The same of a failure, whose messages are printed first.
int finish(show::Out& out, State& state, const Failed& failure);

}  // namespace tbem::driver
