// Rows of campaigns that are run over a data set: in this process, with the weights that a training ended with.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/run/Rows.h"
#include "compiler/run/examples/Attacks.h"
#include "runtime/perturb/Costs.h"

#include <tl/expected.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// Where a training keeps its weights; "": nowhere.
using CheckpointOf = std::function<std::string(const TrainingRun&)>;

/// Reports rows that examples, weights or an attack do not fit, and gives the others the graphs of their attack. `rows`:
/// elaborated, those of trainings too.
void checkExamples(Workspace& workspace, const Target& target, std::vector<MeasurePlan>& plans,
                   const std::vector<RowState>& rows);

/// Gives the rows that are run over examples an identity of their weights and data, and says of those that cannot run why they
/// are skipped: there are no weights yet, or the data cannot be read. Other rows stay as they are, and so do those that have it.
void identifyExamples(std::vector<CaseRow>& rows, const CheckpointOf& checkpointOf);

/// The trainings whose weights these rows take, each once, behind those that they begin with.
std::vector<const TrainingRun*> trainingsOf(const std::vector<CaseRow>& rows);

/// The training whose weights a row takes that is run over examples.
const TrainingRun& trainingOf(const CaseRow& row);

/// What the row did with its examples. Nothing: it was ended. Errors: why it has no numbers.
tl::expected<std::optional<runtime::Measurement>, std::string> measureExamples(RowTable& table, const CaseRow& row,
                                                                               const CheckpointOf& checkpointOf,
                                                                               const ExampleProgress& progress);

}  // namespace tbem::driver
