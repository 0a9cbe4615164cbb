// The measured part of a program: its cases, what became of them, and what regressions and predictions make of that.
#pragma once

#include "compiler/experiment/Observations.h"
#include "compiler/experiment/Predictions.h"
#include "compiler/experiment/Regressions.h"
#include "compiler/run/ForeignRows.h"
#include "compiler/run/Rows.h"
#include "compiler/run/RunEvents.h"
#include "compiler/support/Failed.h"
#include "runtime/measure/Campaign.h"
#include "runtime/perturb/Pictured.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace tbem::driver {

struct State;

struct Measured {
  // After `cases`
  std::vector<MeasurePlan> plans;
  std::vector<RegressionPlan> regressions;
  Predictions predictions;
  std::unique_ptr<RowTable> table;
  std::unique_ptr<ForeignRows> foreign;
  std::vector<CaseRow> rows;
  // Of regressions of files: rows that were measured elsewhere
  std::vector<std::unique_ptr<MeasurePlan>> filePlans;
  std::vector<CaseRow> elsewhere;
  StoredRows elsewhereStored;
  std::optional<StoreFile> file;

  std::optional<measure::CampaignResult> campaign;  ///< after `measure`
  /// After `measure`: kRunFailed (rows failed), kEnvironment (no row could run, or the store could not be written), kInterrupted.
  tl::expected<void, Failed> verdict;
  std::optional<StoredRows> stored;     ///< after `measure` or `stored`: what the store has of the rows
  std::vector<Fitted> fits;             ///< after `regress`
  std::vector<Comparison> comparisons;  ///< after `regress`
  std::vector<Predicted> predicted;     ///< after `predict`
};

/// How a training ended. Errors: as runTraining.
struct Trained {
  const TrainingRun* training = nullptr;
  tl::expected<train::Outcome, Failed> outcome;
};

/// How a perturbation ended. Errors: as runPerturbation.
struct Perturbed {
  const PerturbationRun* perturbation = nullptr;
  tl::expected<perturb::Outcome, Failed> outcome;
  double least = 0, most = 0;               ///< perturb::Victim's
  std::vector<perturb::Summary> summaries;  ///< of the outcome's series, in order
  Defences defences;                        ///< of clauses `detect` and `squeeze`
  std::optional<Certified> certified;       ///< of a clause `certify`
  std::optional<Failed> uncertified;        ///< why a store's certificates cannot be shown
  std::vector<perturb::Pictured> pictured;  ///< of stored points; none where inputs are no images
};

/// Why there is nothing to measure or to read: no design of a network, or no place for a store. Nothing: there is.
std::optional<Failed> nothingMeasured(const Measured& measured);

/// Whether a campaign runs its rows over examples, with weights of trainings.
bool runsOverExamples(const Measured& measured);

// Stages. Mistakes of the program are told in the session.

/// What the program declares beyond designs, and the rows of its campaigns, lowered and estimated. The state has passed `graph`.
tl::expected<void, Failed> readCases(State& state);
/// Runs the trainings whose weights rows are run over examples with, but for those that this run has trained; one that fails
/// does not end the others, and the rows that take its weights are skipped. Errors: kInterrupted. The state has passed `cases`,
/// and `lower` where it runsOverExamples.
tl::expected<void, Failed> trainMeasured(State& state);
/// Runs the campaigns, behind `trainMeasured`; rows that are finished stay. Errors: there is nothing to measure, or no store.
tl::expected<void, Failed> measureCases(State& state);
/// Reads what the store has of the rows, unless that is known. Errors: it is not there, or cannot be read.
tl::expected<void, Failed> readStored(State& state);
/// Where the store has no rows of this run's number of threads, those of another number that it has take their place: that
/// number, else 0. The state has passed `cases`.
unsigned takeOtherThreads(State& state);
/// Every regression on every backend that has finished rows.
tl::expected<void, Failed> fitStored(State& state);
/// Every prediction of these fits.
tl::expected<void, Failed> predictFitted(State& state);
/// The program's trainings, in order; one that fails does not end the others, Ctrl-C does. The state has passed `lower`.
tl::expected<void, Failed> trainAll(State& state);
/// The program's perturbations of trainings that are finished, in order; one that fails does not end the others, Ctrl-C does. The
/// state has passed `train`. Points are kept in the store of Request::campaign, which says too whether they are found anew.
tl::expected<void, Failed> perturbAll(State& state);
/// What the store has of the program's perturbations, as `perturbAll` leaves it: nothing is trained or searched for. The state
/// has passed `lower`.
tl::expected<void, Failed> readPerturbed(State& state);

}  // namespace tbem::driver
