// The way through the compiler, as a list of stages. Every command runs a piece of it.
#pragma once

#include "compiler/experiment/Trainings.h"
#include "compiler/experiment/designs/Designs.h"
#include "compiler/run/Rows.h"
#include "compiler/show/Out.h"
#include "compiler/spec/prove/Work.h"
#include "compiler/support/Failed.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

class CleanParts;

/// What the stages hand on.
struct State {
  State(const Options& options, Events& events) : options(options), events(events) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Options& options;
  Events& events;                          ///< progress and notes of the stages
  bool firstRowOnly = false;               ///< work on the first chosen row alone
  bool timing = false;                     ///< algorithms that were never timed on this machine are timed
  bool trainingsOnly = false;              ///< the rows of designs are left out
  std::optional<std::size_t> plainAbove;   ///< designs of more rows in all are left out: their rows are for PlainRows
  bool keepResults = false;                ///< gradients and outputs stay readable after the step
  bool silent = false;                     ///< diagnostics stay in the sink, untold
  CleanParts* clean = nullptr;             ///< of a session: what need not be looked at again
  std::optional<std::size_t> mostPlanned;  ///< operators of plans after which `lower` leaves the other rows without one
  std::size_t enginesAsked = 0;            ///< lists that cuDNN was asked for, of all devices
  std::unique_ptr<Workspace> workspace;    ///< after `load`
  Designs designs;                         ///< after `design`
  /// After `design`. Their rows stand behind those of the designs: for each, its step and then its evaluations.
  std::vector<std::unique_ptr<TrainingRun>> trainings;
  std::vector<RowState> rows;  ///< after `graph`: the rows that met their conditions
  std::string backendName;     ///< after `lower`
  Opened backend;
  estimate::QueryCache queries;
  spec::Work proofs;    ///< what is left of the command's limit of work for proofs
  bool hooked = false;  ///< after `load`: bugs write this program down (setReproducerHook)

  DiagnosticSink& sink() { return workspace->session.sink; }
  /// Rows of all designs that the command works on.
  std::size_t chosenRows() const;
  /// Whether the rows of designs are left to PlainRows.
  bool plain() const { return plainAbove && chosenRows() > *plainAbove; }
  /// The first row of this design, or nullptr.
  RowState* rowOf(const DesignRun* run);
  /// Of the lowered row that has most: calls of own code without whose workspaces its arena is.
  std::uint32_t unknownWorkspaces() const;
};

/// A stage: its name (for --emit, --print-after, --time), what it does, and how its result is printed. Mistakes of the program
/// are in the session's sink.
struct Stage {
  const char* name;
  const char* help;
  tl::expected<void, Failed> (*run)(State& state);
  std::string (*dump)(const State& state);
};

/// The backend that the options ask for. Errors: why it cannot be used.
tl::expected<void, Failed> openBackend(State& state);
/// Native code of a lowered row that has none yet. Errors: why not.
tl::expected<void, Failed> compileRow(State& state, RowState& row);

/// What is done behind each stage that was run: how long it took, and whether the next may follow.
using AfterStage = std::function<void(const Stage& stage, double seconds, bool good)>;
/// Runs the stages behind `done` (empty: all) up to `last`. Stops at the first that fails or leaves errors in the session's sink
/// (kProgramErrors, no message). Prints nothing.
tl::expected<void, Failed> runStages(State& state, std::string_view last, std::string_view done = {},
                                     const AfterStage& after = {});

/// What a command does next.
struct Progressed {
  bool proceed = false;  ///< go on; else return `status`, everything is printed
  int status = 0;
};
/// Runs the stages behind `done` (empty: all) up to `last`. Stops at the first stage after which there are errors, having printed
/// the diagnostics, and after the stage that --emit names, having printed what it made.
Progressed runPipeline(show::Out& out, State& state, std::string_view last, std::string_view done = {});

/// Prints the diagnostics and picks the exit status of a command that came to its end with `status`.
int finish(show::Out& out, State& state, int status);
/// The same of a failure, whose messages are printed first.
int finish(show::Out& out, State& state, const Failed& failure);

}  // namespace tbem::driver
