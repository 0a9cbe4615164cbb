// What trainings and perturbations share: the examples that they read, and their graphs as designs of one row.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/experiment/trainings/Trainings.h"
#include "compiler/graph/read/Training.h"
#include "runtime/data/Dataset.h"
#include "runtime/perturb/Perturb.h"

#include <memory>
#include <optional>
#include <vector>

namespace tbem::driver {

/// A dataset of the program, described but not opened.
struct Examples {
  const data::Reader* reader = nullptr;
  data::Settings settings;
  data::Description about;
};
graph::DataShape shapeOf(const data::Description& about);

/// Nothing after a report. `pool`: of the values of `data`.
std::optional<Examples> describeExamples(Workspace& workspace, const graph::DataSpec& data, const sema::ExprPool& pool);

/// The training of this name; nullptr after a report, or where it has mistakes of its own. `whatFor`: why one is wanted, for the
/// report.
const TrainingRun* findTraining(Workspace& workspace, const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                const ast::Name& name, const char* whatFor);

/// Which examples of the split are taken. False after a report: there are not so many.
bool takeExamples(Workspace& workspace, const graph::DataSpec& data, const data::Description& about, perturb::Plan& plan);

/// Whether the training split has the examples that a method learns from, in batches of so many. Reports where it has not.
bool canLearn(DiagnosticSink& sink, const graph::MethodSpec& method, const data::Description& about, std::int64_t batch);

/// Whether each example has a cost of its own in the network, at inference: its gates decide about examples, or about so many
/// rows of each. Reports where it has not.
bool costsByExample(DiagnosticSink& sink, SrcRange at, const graph::Row& network);

/// A design of one row, whose outputs stay readable. `levels`: of its factors; none: the first of each.
std::unique_ptr<DesignRun> oneRowOf(Workspace& workspace, graph::ExperimentSpec experiment, const Target& target,
                                    LevelIndices levels = {});

}  // namespace tbem::driver
