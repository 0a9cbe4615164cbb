// What the stages of the pipeline hand on.
#pragma once

#include "compiler/devices/PlanAnswers.h"
#include "compiler/experiment/designs/Designs.h"
#include "compiler/experiment/trainings/Perturbations.h"
#include "compiler/experiment/trainings/Trainings.h"
#include "compiler/run/Measured.h"
#include "compiler/run/Rows.h"
#include "compiler/spec/prove/Work.h"
#include "compiler/support/Bug.h"
#include "compiler/support/Events.h"
#include "compiler/support/Failed.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

class KeptAnswers;

struct State {
  /// Both must outlive it.
  State(const Request& request, Events& events) : request(request), events(events) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Request& request;
  Events& events;                 ///< progress and notes of the stages
  RunEvents* listener = nullptr;  ///< of campaigns and trainings; nullptr: nobody

  // How far the stages go
  bool firstRowOnly = false;               ///< work on the first chosen row alone
  bool timing = false;                     ///< algorithms that were never timed on this machine are timed
  bool trainingsOnly = false;              ///< the rows of designs are left out
  std::optional<std::size_t> plainAbove;   ///< designs of more rows in all are left out: their rows are for PlainRows
  bool keepResults = false;                ///< gradients and outputs stay readable after the step
  bool keepIr = false;                     ///< LLVM IR of native code is kept as text
  bool marks = false;                      ///< native code takes the time of each operator and loop
  std::optional<std::size_t> mostPlanned;  ///< operators of plans after which `lower` leaves the other rows without one
  bool tellsUnbuilt = true;                ///< networks without a design are told of, and how they were looked at
  KeptAnswers* keptAnswers = nullptr;      ///< of a session: what need not be looked at again

  // What they made
  std::size_t enginesAsked = 0;          ///< lists that cuDNN was asked for, of all devices
  std::unique_ptr<Workspace> workspace;  ///< after `load`
  Designs designs;                       ///< after `design`
  /// After `design`. Their rows stand behind those of the designs: for each, its step and then its evaluations.
  std::vector<std::unique_ptr<TrainingRun>> trainings;
  /// After `design`. Their rows stand behind those of trainings: for each, the victim's and then the methods'.
  std::vector<std::unique_ptr<PerturbationRun>> perturbations;
  std::vector<RowState> rows;  ///< after `graph`: the rows that met their conditions
  std::string backendName;     ///< after `lower`
  Opened backend;
  std::unique_ptr<PlanAnswers> planAnswers;  ///< about a card that is not here; null: none is planned for, or nothing is kept
  estimate::QueryCache queries;
  Measured measured;                 ///< after `cases`, and what follows it
  std::vector<Trained> trained;      ///< after `train`: up to one that was interrupted
  std::vector<Perturbed> perturbed;  ///< after `perturb`: likewise
  std::set<std::string_view> done;   ///< stages that were run
  spec::Work proofs;                 ///< what is left of the command's limit of work for proofs
  /// Of the workspace, which it goes before: bugs carry the program.
  std::optional<BugContext> bugContext;

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

/// With what is known of it on this machine, where the request lets that be read.
Opened openBackend(const Request& request, std::string_view name);
/// The backend that is asked for. Errors: why it cannot be used.
tl::expected<void, Failed> openBackend(State& state);
/// Keeps what was asked about a card that is not here, for the next command; notes where that cannot be.
void keepPlanAnswers(State& state);
/// Native code of a lowered row that has none yet. Errors: why not.
tl::expected<void, Failed> compileRow(State& state, RowState& row);

}  // namespace tbem::driver
