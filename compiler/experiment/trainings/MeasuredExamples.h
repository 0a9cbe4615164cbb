// The clauses `examples` and `attack` of a measurement, read and checked: what a design's rows are run over, by whose weights,
// and what moves the examples of each row.
#pragma once

#include "compiler/experiment/trainings/Trainings.h"
#include "compiler/graph/perturb/Attack.h"
#include "runtime/perturb/Perturb.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::driver {

/// Clause `attack` in one row of the design. Its graphs are designs of one row; they are there once the row is known
/// (makeAttackGraphs).
struct RowAttack {
  graph::Attack spec;
  perturb::Plan plan;
  std::unique_ptr<DesignRun> learner;        ///< null: the method learns nothing
  std::unique_ptr<DesignRun> discriminator;  ///< null: nothing learns against it
  std::unique_ptr<DesignRun> mover;
  std::optional<graph::Row> learned, told, moved;  ///< these, elaborated
};

struct MeasuredExamples {
  graph::ExamplesSpec spec;
  std::vector<const TrainingRun*> trainings;  ///< whose weights, as ExamplesSpec::weights
  const data::Reader* reader = nullptr;
  data::Settings settings;
  data::Description about;
  /// What each row is asked about: split, number, repeats, energy. The batch is the row's; nothing is moved, so all numbers are
  /// valid.
  perturb::Plan plan;
  const ast::Clause* attackClause = nullptr;  ///< null: there is none
  std::string attack;                         ///< the clause as a person writes it, on one line
  std::map<std::size_t, RowAttack> attacks;   ///< by row of the design, of those that were chosen

  /// Whose weights a row with these levels takes.
  const TrainingRun& trainingOf(std::span<const std::uint32_t> levels) const;
  /// "fashion.test(count: 1000) by t, 3 repeats, energy of 0.2 s", of the weights of t: without repeats where they are the usual
  /// ones.
  std::string examplesText(const std::string& weights) const;
  /// The same of all weights, with ", attack random": as reports name it.
  std::string text() const;
};

/// The clauses of a measurement of `run`; `attack` may be null. Nothing after a report, or where the training has mistakes of its
/// own.
std::optional<MeasuredExamples> readMeasuredExamples(Workspace& workspace,
                                                     const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                                     const ast::Clause& clause, const ast::Clause* attack, const DesignRun& run);

/// Whether a row of `run` reads such examples, and has the weights of its training: the same names and shapes. `trained`: that
/// training's step. Reports what differs.
bool rowFits(DiagnosticSink& sink, const MeasuredExamples& examples, const DesignRun& run, std::size_t row,
             const graph::Row& elaborated, const graph::Row& trained);

/// Does what may report mistakes of an attack in a row, which then say at which levels of the factors that the clause names.
void reportingAt(DiagnosticSink& sink, const ast::Clause& clause, const DesignRun& run, std::size_t row,
                 const std::function<void()>& work);

/// Makes the graphs of the row's attack, which there must be, to be elaborated. False after a report.
bool makeAttackGraphs(Workspace& workspace, const Target& target, MeasuredExamples& examples, const DesignRun& run,
                      std::size_t row, const graph::Row& elaborated);

}  // namespace tbem::driver
