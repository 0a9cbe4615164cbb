// What trainings and perturbations share: the examples that they read, and their graphs as designs of one row.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/graph/read/Training.h"
#include "runtime/data/Dataset.h"

#include <memory>
#include <optional>

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

/// A design of one row, whose outputs stay readable.
std::unique_ptr<DesignRun> oneRowOf(Workspace& workspace, graph::ExperimentSpec experiment, const Target& target);

}  // namespace tbem::driver
