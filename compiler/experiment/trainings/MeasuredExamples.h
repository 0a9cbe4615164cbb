// The clause `examples` of a measurement, read and checked: what a design's rows are run over, and by whose weights.
#pragma once

#include "compiler/experiment/trainings/Trainings.h"
#include "runtime/perturb/Perturb.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct MeasuredExamples {
  graph::ExamplesSpec spec;
  const TrainingRun* training = nullptr;  ///< whose weights
  const data::Reader* reader = nullptr;
  data::Settings settings;
  data::Description about;
  /// What each row is asked about: split, number, repeats. The batch is the row's; nothing is moved, so all numbers are valid.
  perturb::Plan plan;

  /// "fashion.test(count: 1000) by t, 3 repeats": as reports name it, without repeats where they are the usual ones.
  std::string text() const;
};

/// The clause of a measurement of `run`. Nothing after a report, or where the training has mistakes of its own.
std::optional<MeasuredExamples> readMeasuredExamples(Workspace& workspace,
                                                     const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                                     const ast::Clause& clause, const DesignRun& run);

/// Whether a row of `run` reads such examples, and has the weights of the training: the same names and shapes. `trained`: the
/// training's step. Reports what differs.
bool rowFits(DiagnosticSink& sink, const MeasuredExamples& examples, const DesignRun& run, std::size_t row,
             const graph::Row& elaborated, const graph::Row& trained);

}  // namespace tbem::driver
