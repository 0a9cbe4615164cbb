// The way through the compiler, as a list of stages. Every command runs a piece of it.
#pragma once

#include "compiler/pipeline/PipelineState.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace tbem::driver {

/// A stage: its name (for --emit, --print-after, --time), the one before it, what it does, and how its result is printed.
/// Mistakes of the program are in the session's sink.
struct Stage {
  const char* name;
  const char* help;
  const char* after;  ///< the stage whose result it needs; "": none
  bool runs;          ///< steps of networks
  bool finds;         ///< mistakes that it finds are of its result, which is there with them
  tl::expected<void, Failed> (*run)(PipelineState& state);
  std::string (*dump)(const PipelineState& state);
  bool (*asked)(const Questions& questions) = nullptr;  ///< whether it has its question; nullptr: it needs none
};

/// What is done with the result of each stage that was run, where there is one.
using AfterStage = std::function<void(const Stage& stage)>;
/// Runs the stages on the way to `last`, and it, but for those that the state has done. Stops at the first that fails, or that
/// leaves errors in the session's sink and does not look for them (kProgramErrors, no message). The state's events are told.
tl::expected<void, Failed> runStages(PipelineState& state, std::string_view last, const AfterStage& after = {});

/// The stages by name: "load, names, design, ..".
std::string stageNames();
/// Whether steps of networks run on the way to this stage.
bool runsSteps(std::string_view stage);
/// Whether `other` is on the way to this stage, or it; false too for a name that no stage has.
bool passes(std::string_view stage, std::string_view other);
/// Why this stage cannot be shown, "" where it can: there is none of this name, or it has a question that the state was not
/// asked.
std::string whyNotShown(const PipelineState& state, std::string_view stage);
/// Everything that can be known of the state's program without running it: what `tbemc check` and a session ask. Whether the
/// check got beyond the graphs; what there is to say is in the session's sink.
bool checkAll(PipelineState& state);
/// What this stage and those behind it made is dropped: they are run again when they are asked for.
void forget(PipelineState& state, std::string_view stage);

}  // namespace tbem::driver
